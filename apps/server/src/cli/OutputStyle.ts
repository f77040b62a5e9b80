import { Context, Effect, Option } from "effect"
import { GlobalFlag } from "effect/cli"
import * as Options from "./Options.ts"

/** The output of a command: a terminal with a width, or a file or program, which gets everything as it is. */
export interface Style {
  /** Undefined if a program reads it. */
  readonly columns: number | undefined
  readonly hasColours: boolean
}

/** Width of a terminal that does not tell its own. */
const DEFAULT_COLUMNS = 80

/** Colours follow https://no-color.org. */
const styleOf = ({ columns, isTTY }: NodeJS.WriteStream): Style => {
  const isPlain = (process.env["NO_COLOR"] ?? "") !== "" || process.env["TERM"] === "dumb"
  return isTTY
    ? { columns: columns > 0 ? columns : DEFAULT_COLUMNS, hasColours: !isPlain }
    : { columns: undefined, hasColours: false }
}

/** Standard output of this process. */
export const StandardOutput = Context.Reference<Style>("@waybill/server/cli/OutputStyle/StandardOutput", {
  defaultValue: () => styleOf(process.stdout),
})

/** Standard error of this process, to which errors go. */
export const StandardError = Context.Reference<Style>("@waybill/server/cli/OutputStyle/StandardError", {
  defaultValue: () => styleOf(process.stderr),
})

export const Wide = GlobalFlag.Setting("wide")({
  flag: Options.isSet("wide", "Show whole values and times in a terminal, without regard to its width"),
})

/** Returns the style of this command's output: `--wide` shows what a program would get. */
export const current = Effect.gen(function* () {
  const output = yield* StandardOutput
  const isWide = Option.getOrElse(yield* Effect.serviceOption(Wide), () => false)
  return isWide ? { ...output, columns: undefined } : output
})

/** Whether a person reads at a terminal, and did not ask for everything. */
export const isTerminal = Effect.map(current, ({ columns }) => columns !== undefined)

type Colour = "green" | "yellow" | "red" | "dim" | "bold"
const CODES: Readonly<Record<Colour, readonly [on: number, off: number]>> = {
  green: [32, 39],
  yellow: [33, 39],
  red: [31, 39],
  dim: [2, 22],
  bold: [1, 22],
}

export const coloured = (text: string, colour: Colour | undefined, { hasColours }: Style): string => {
  if (!hasColours || colour === undefined || text === "") return text
  const [on, off] = CODES[colour]
  return `\u001b[${on}m${text}\u001b[${off}m`
}

/** Words of states, by the colour that they have on screens too. */
const STATES: ReadonlyMap<string, Colour> = new Map(
  (
    [
      ["green", "delivered verified active enabled ok found sent published pass received true ready"],
      [
        "yellow",
        "queued scheduled deferred delivery_delayed pending degraded draft missing opened clicked later partly warning",
      ],
      [
        "red",
        "bounced failed failing retrying complained rejected revoked dropped error mismatch fail wrong broken not",
      ],
      ["dim", "suppressed canceled disabled expired archived none removed false optional skipped"],
    ] as const
  ).flatMap(([colour, words]) => words.split(" ").map((word) => [word, colour] as const)),
)

/** Returns the colour of a state such as `partly bounced`, or of the type of an event such as `email.bounced`. */
export const colourOf = (state: string): Colour | undefined => STATES.get(state.replace(/^.*\.| .*$/gu, ""))
