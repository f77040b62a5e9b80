import { Context } from "effect"

/** Argument that stands for standard input. */
export const MARK = "-"

/** Reads standard input to its end, or until it has more than so many characters. */
export const StandardInput = Context.Reference<(max_chars: number) => Promise<string>>(
  "@waybill/server/cli/StandardInput",
  {
    defaultValue: () => async (max_chars) => {
      let text = ""
      for await (const chunk of process.stdin.setEncoding("utf8")) {
        text += String(chunk)
        if (text.length > max_chars) break
      }
      return text
    },
  },
)
