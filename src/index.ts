/** The library's public face: the contracts. The command line is the product; its pieces are added here when their shape is settled. */
export * from "../schemas/index.js";
