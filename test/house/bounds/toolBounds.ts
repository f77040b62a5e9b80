import { customer, type Group } from "./Bound.ts"

const LISTEN = "apps/server/src/cli/remote/live/listen.ts"
const FORWARDER = "apps/server/src/cli/remote/live/Forwarder.ts"
const MCP_ANSWER = "apps/server/src/mcp/ToolAnswer.ts"

/** Bounds of the programs that work over the API. */
export const toolBounds: ReadonlyArray<Group> = [
  {
    title: "Command line (`waybill`)",
    bounds: [
      customer("Addresses that a session of `listen` calls", "MAX_TARGETS", LISTEN, "refused"),
      customer("Time for the answer to a call of `listen`", "CALL_TIMEOUT", FORWARDER, "shown as no answer"),
      customer("Characters of an answer that `listen` shows", "SHOWN_CHARS", FORWARDER, "cut"),
      customer("Rows of a list", "MAX_ROWS", "apps/server/src/cli/remote/Flags.ts", "refused"),
      customer(
        "Rejected lines of a file of suppressions that are shown",
        "MAX_SHOWN_LINES",
        "apps/server/src/cli/remote/suppressions.ts",
        "counted; `--rejected` writes all",
      ),
      customer("Headers of an email of `send`", "MAX_REPEATS", "apps/server/src/cli/remote/send.ts", "refused"),
    ],
  },
  {
    title: "Tools for assistants (`waybill mcp`)",
    bounds: [
      customer("An answer of a tool", "MAX_ANSWER_CHARS", MCP_ANSWER, "texts are cut, then rows are left out"),
      customer("The text or the HTML of a message in an answer", "MAX_BODY_CHARS", MCP_ANSWER, "it is cut"),
      customer("Another text of others in an answer", "MAX_TEXT_CHARS", MCP_ANSWER, "it is cut"),
      customer(
        "Recipients of an email that `send_email` sends",
        "MAX_LIVE_RECIPIENTS",
        "apps/server/src/mcp/tools/SendTools.ts",
        "refused",
      ),
    ],
  },
]
