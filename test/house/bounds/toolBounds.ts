import { customer, type Group } from "./Bound.ts"

const MCP_ANSWER = "apps/server/src/mcp/tools/ToolAnswer.ts"

/** Bounds of the programs that work over the API. */
export const toolBounds: ReadonlyArray<Group> = [
  {
    title: "Tools for assistants (`waybill mcp`)",
    bounds: [
      customer("An answer of a tool", "MAX_ANSWER_CHARS", MCP_ANSWER, "texts are cut, then rows are left out"),
      customer(
        "Recipients of an email that `send_email` sends",
        "MAX_LIVE_RECIPIENTS",
        "apps/server/src/mcp/tools/SendTools.ts",
        "refused",
      ),
    ],
  },
]
