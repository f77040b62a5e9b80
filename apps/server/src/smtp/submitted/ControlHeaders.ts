import type { Field } from "@waybill/mail/report/SubmittedMessage"

/** Kinds of instructions that a header can be. */
type Instruction = "key" | "tags" | "tag" | "scheduled" | "opens" | "clicks" | "replies" | "nothing"

/**
 * Headers that are instructions to this service; recipients do not get them. Resend's and Postmark's names are read too, so
 * that programs written for them need no change. `values` are those that have a meaning here, and it: with another value
 * the header is none of ours, and is refused with those that steer a provider.
 */
const CONTROL: ReadonlyMap<string, { readonly is: Instruction; readonly values?: Readonly<Record<string, string>> }> =
  new Map([
    ["x-idempotency-key", { is: "key" }],
    ["resend-idempotency-key", { is: "key" }],
    ["x-tag", { is: "tags" }],
    ["x-pm-tag", { is: "tag" }],
    ["x-scheduled-at", { is: "scheduled" }],
    ["x-track-opens", { is: "opens" }],
    ["x-track-clicks", { is: "clicks" }],
    ["x-track-replies", { is: "replies" }],
    ["x-pm-trackopens", { is: "opens" }],
    [
      "x-pm-tracklinks",
      { is: "clicks", values: { none: "false", textonly: "false", htmlonly: "true", htmlandtext: "true" } },
    ],
    // The stream of transactional mail, which all mail is.
    ["x-pm-message-stream", { is: "nothing", values: { outbound: "" } }],
  ])

/** The instructions of a message. */
export interface ControlHeaders {
  readonly key: string | undefined
  readonly tags: ReadonlyArray<string>
  readonly scheduledAt: string | null
  /** Omitted without such headers. */
  readonly tracking: { readonly tracking?: { readonly opens: unknown; readonly clicks: unknown } }
  /** Omitted without such a header. */
  readonly replies: { readonly reply_tracking?: unknown }
  /** Names of instructions that a message may have once, and has more often. */
  readonly repeated: ReadonlyArray<string>
}

const instructionOf = (field: Field): { readonly is: Instruction; readonly value: string } | undefined => {
  const control = CONTROL.get(field.name.toLowerCase())
  if (control === undefined) return undefined
  const text = field.value.trim()
  if (control.values === undefined) return { is: control.is, value: text }
  const word = text.toLowerCase()
  return Object.hasOwn(control.values, word) ? { is: control.is, value: control.values[word] ?? "" } : undefined
}

/** Whether a header is an instruction to this service. */
export const isControl = (field: Field): boolean => instructionOf(field) !== undefined

export const read = (headers: ReadonlyArray<Field>): ControlHeaders => {
  const found = headers.map(instructionOf)
  const valuesOf = (wanted: Instruction) => found.flatMap((each) => (each?.is === wanted ? [each.value] : []))
  const [keys, scheduled, opens, clicks, replies] = [
    valuesOf("key"),
    valuesOf("scheduled"),
    valuesOf("opens"),
    valuesOf("clicks"),
    valuesOf("replies"),
  ]
  // Commas separate tags, except in Postmark's header, which has one.
  const tags = [...valuesOf("tags").flatMap((value) => value.split(",")), ...valuesOf("tag")]
  return {
    key: keys[0],
    tags: tags.map((tag) => tag.trim()).filter((tag) => tag !== ""),
    scheduledAt: scheduled[0] ?? null,
    tracking:
      opens.length === 0 && clicks.length === 0 ? {} : { tracking: { opens: flag(opens[0]), clicks: flag(clicks[0]) } },
    replies: replies.length === 0 ? {} : { reply_tracking: replyTracking(replies[0]) },
    repeated: [
      ...(scheduled.length > 1 ? ["X-Scheduled-At"] : []),
      ...(keys.length > 1 ? ["X-Idempotency-Key"] : []),
      ...(opens.length > 1 ? ["X-Track-Opens"] : []),
      ...(clicks.length > 1 ? ["X-Track-Clicks"] : []),
      ...(replies.length > 1 ? ["X-Track-Replies"] : []),
    ],
  }
}

const replyTracking = (text: string | undefined) => (text?.toLowerCase() === "forward" ? { forward: true } : flag(text))

/** Any other word is refused by the schema. */
const flag = (text: string | undefined): boolean | string | null => {
  const word = text?.toLowerCase()
  return word === "true" || word === "false" ? word === "true" : (word ?? null)
}
