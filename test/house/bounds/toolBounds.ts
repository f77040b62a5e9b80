import { customer, type Group } from "./Bound.ts"

const FORWARDER = "apps/server/src/cli/remote/live/Forwarder.ts"
const MCP_ANSWER = "apps/server/src/mcp/ToolAnswer.ts"

/** Bounds of the programs that work over the API. */
export const toolBounds: ReadonlyArray<Group> = [
  {
    title: "Command line (`waybill`)",
    bounds: [
      customer("Time for the answer to a call of `listen`", "CALL_TIMEOUT", FORWARDER, "shown as no answer"),
      customer("Rows of a list", "MAX_ROWS", "apps/server/src/cli/remote/Flags.ts", "refused"),
    ],
  },
  {
    title: "Tools for assistants (`waybill mcp`)",
    bounds: [
      customer("An answer of a tool", "MAX_ANSWER_CHARS", MCP_ANSWER, "texts are cut, then rows are left out"),
      customer("The text or the HTML of a message in an answer", "MAX_BODY_CHARS", MCP_ANSWER, "it is cut"),
      customer(
        "Recipients of an email that `send_email` sends",
        "MAX_LIVE_RECIPIENTS",
        "apps/server/src/mcp/tools/SendTools.ts",
        "refused",
      ),
    ],
  },
]
