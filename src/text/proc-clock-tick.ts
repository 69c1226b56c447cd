/**
 * Ticks a second in which /proc counts CPU time: USER_HZ, 100 on every architecture that runs inference servers
 * (Linux include/asm-generic/param.h, `getconf CLK_TCK`). It is fixed by the kernel's user interface, whatever CONFIG_HZ is.
 */
export const CLK_TCK = 100;
