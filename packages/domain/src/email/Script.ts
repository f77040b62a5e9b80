import { Result } from "effect"
import { nearestName } from "../values/nearestName.ts"
import * as Text from "../values/Text.ts"

/** Header of a test message that holds its script. It is taken out of the message. */
export const HEADER = "x-waybill-script"
/** Maximum number of steps. More than a message has attempts. */
export const MAX_STEPS = 20
export const MAX_SCRIPT_CHARS = 500

export const ACTIONS = ["deliver", "send", "defer", "bounce", "fail", "complain", "suppress", "slow"] as const
export type Action = (typeof ACTIONS)[number]

/** Outcome of one attempt. */
export interface Step {
  readonly action: Action
  /** The reply of the server; undefined for the usual one of the action. */
  readonly reply: { readonly code: number; readonly enhancedCode: string | undefined } | undefined
  /** Whether the outcome adds to the suppression list, like a real one. */
  readonly suppresses: boolean
}

/** The outcomes of the attempts, in order. After the last step, the message is delivered. */
export type Script = ReadonlyArray<Step>

/** Characters of a wrong word that its error shows. */
const SHOWN_CHARS = 40
const shown = (word: string | undefined): string => `"${Text.clip(word ?? "", SHOWN_CHARS)}"`

const SUPPRESSES = "+suppress"
/** First digit of the code of each action that has one. */
const FIRST_DIGIT: { readonly [action: string]: string } = { defer: "4", bounce: "5" }
const CODE = /^[45][0-5]\d$/u
const ENHANCED_CODE = /^[45]\.\d{1,3}\.\d{1,3}$/u

/** Parses a script, such as `defer 451 4.7.1; defer; bounce 550 5.1.1`. */
export const parse = (text: string): Result.Result<Script, string> => {
  if (text.length > MAX_SCRIPT_CHARS)
    return Result.fail(`is ${text.length} characters; at most ${MAX_SCRIPT_CHARS} are allowed`)
  const steps = text.split(";").map((step) => step.trim())
  if (steps.length > MAX_STEPS) return Result.fail(`has ${steps.length} steps; at most ${MAX_STEPS} are allowed`)
  return Result.all(steps.map(parseStep))
}

const parseStep = (text: string): Result.Result<Step, string> => {
  const [word = "", code, enhancedCode, ...rest] = text.split(/[ \t]+/u)
  const suppresses = word.endsWith(SUPPRESSES)
  const name = suppresses ? word.slice(0, -SUPPRESSES.length) : word
  const action = ACTIONS.find((each) => each === name)
  if (action === undefined) return Result.fail(unknown(name))
  if (suppresses && action !== "bounce" && action !== "complain")
    return Result.fail(`has ${SUPPRESSES} at "${action}"; only "bounce" and "complain" may have it`)
  if (code === undefined) return Result.succeed({ action, reply: undefined, suppresses })
  const problem = rest.length > 0 ? `has ${shown(rest[0])} after the codes` : codeProblem(action, code, enhancedCode)
  return problem === undefined
    ? Result.succeed({ action, reply: { code: Number(code), enhancedCode }, suppresses })
    : Result.fail(`${problem}; separate steps by semicolons, such as "defer 451 4.7.1; bounce 550 5.1.1"`)
}

const unknown = (name: string): string => {
  const words = `a step begins with one of ${ACTIONS.join(", ")}`
  if (name === "") return `has an empty step; ${words}`
  const nearest = nearestName(name, ACTIONS)
  return `has the unknown word ${shown(name)}${nearest === undefined ? "" : ` (did you mean "${nearest}"?)`}; ${words}`
}

const codeProblem = (action: Action, code: string, enhancedCode: string | undefined): string | undefined => {
  const digit = FIRST_DIGIT[action]
  if (digit === undefined) return `has ${shown(code)} after "${action}", which takes no code`
  if (!CODE.test(code) || !code.startsWith(digit))
    return `has the code ${shown(code)} after "${action}", which takes a code from ${digit}00 to ${digit}59`
  return enhancedCode === undefined || (ENHANCED_CODE.test(enhancedCode) && enhancedCode.startsWith(digit))
    ? undefined
    : `has the enhanced code ${shown(enhancedCode)} after "${action} ${code}", which takes one such as ${digit}.1.1`
}
