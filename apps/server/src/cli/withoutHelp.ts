import type { Command } from "effect/cli"

type Named = Pick<Command.Command<string, unknown>, "subcommands">

const HELP = new Set(["--help", "-h"])

/**
 * Returns the words of a command line with `version` as a flag, `help NAME` as `NAME --help`, and without those that ask for help if they name
 * a command that there is not: the library would show the help of the last one that it knows, as if nothing were wrong.
 */
export const withoutHelp = (command: Named, words: ReadonlyArray<string>): ReadonlyArray<string> => {
  const [first, ...others] = words
  if (first === "version") return ["--version"]
  if (first === "help") return withoutHelp(command, [...others, "--help"])
  let known: Named = command
  for (const word of words) {
    const commands = known.subcommands.flatMap((group) => group.commands)
    if (word.startsWith("-") || commands.length === 0) return words
    const next = commands.find(({ alias, name }) => name === word || alias === word)
    if (next === undefined) return words.filter((each) => !HELP.has(each))
    known = next
  }
  return words
}
