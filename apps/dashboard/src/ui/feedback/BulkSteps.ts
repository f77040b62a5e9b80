import * as Api from "../../api/Api.ts"
import { ApiError } from "../../api/ApiError.ts"
import type { Progress } from "./ExportProgress.tsx"

/** One request of an action on several things. */
interface Step {
  /** Name of the thing that changes, such as an address. */
  readonly subject: string
  readonly run: () => Promise<unknown>
}

/** An action on several things, which is asked about first. */
export interface Action {
  /** Verb, number and noun, such as "Cancel 2 emails". */
  readonly name: string
  readonly isDestructive: boolean
  /** The action, and the things that it changes. */
  readonly text: string
  /** Whether the question names the things, such as addresses. */
  readonly isNamed?: boolean
  readonly steps: ReadonlyArray<Step>
  /** Says how many were done. */
  readonly done: (count: number) => string
}

/** Names of what was refused, by the reason. */
export type Refused = ReadonlyMap<string, ReadonlyArray<string>>

export interface Result {
  readonly done: number
  readonly refused: Refused
}

/** Runs the steps one by one, and waits when a rate limit is reached. One that is refused stops no other. */
export const run = async (
  { steps }: Action,
  signal: AbortSignal,
  onProgress: (progress: Progress) => void,
): Promise<Result> => {
  const refused = new Map<string, Array<string>>()
  let done = 0
  for (const [nth, step] of steps.entries()) {
    try {
      await Api.patiently(step.run, signal, (waitSeconds) => onProgress({ done: nth, waitSeconds }))
      done++
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      refused.set(error.message, [...(refused.get(error.message) ?? []), step.subject])
    }
    onProgress({ done: nth + 1, waitSeconds: 0 })
  }
  return { done, refused }
}
