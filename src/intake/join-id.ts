const COMPLETION_ID = /^(chat)?cmpl-/;
const CHOICE_SUFFIX = /-\d{1,2}$/;
const UUID_WITH_CHOICE = /^[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}-\d{1,2}$/i;

/**
 * What the views of one request are joined on. vLLM builds its ids around the caller's `X-Request-ID`: `cmpl-ID-CHOICE` in spans,
 * `cmpl-ID` in the response, `chatcmpl-ID` for chats; all three and the bare `ID` of the load generator give `ID`.
 * Ids of another form stay as they are.
 *
 * @param origin where the id was read: a response id carries no choice, so a number at the end of the caller's own id is kept.
 */
export function joinId(requestId: string, origin: "span" | "response"): string {
  const prefix = COMPLETION_ID.exec(requestId);
  if (!prefix) return requestId;
  const id = requestId.slice(prefix[0].length);
  const hasChoice = UUID_WITH_CHOICE.test(id) || (origin === "span" && prefix[1] === undefined);
  return hasChoice ? id.replace(CHOICE_SUFFIX, "") : id;
}
