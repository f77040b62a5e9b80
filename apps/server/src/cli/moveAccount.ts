/** Commands of operators that take an account, which is the only one of the instance if it is left out. */
const COMMANDS: Readonly<Record<string, ReadonlyArray<string>>> = {
  accounts: ["move", "plan", "limits", "retention", "links"],
  domains: ["list", "transport"],
  keys: ["create", "list", "revoke"],
}

/** Accepts an account id as the first argument, as in `keys list acc_…`, by moving it into the flag `--account`. */
export const moveAccount = (words: ReadonlyArray<string>): ReadonlyArray<string> => {
  const [noun = "", verb = "", first = "", ...rest] = words
  const takesAccount = Object.hasOwn(COMMANDS, noun) && COMMANDS[noun]?.includes(verb) === true
  return takesAccount && first.startsWith("acc_") ? [noun, verb, ...rest, "--account", first] : words
}
