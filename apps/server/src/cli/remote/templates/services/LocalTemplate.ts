import type { PushedTemplate } from "@waybill/client/Waybill"
import { CommandRefused } from "../../../../process/CommandRefused.ts"

/** Refuses a folder of templates, or what was made of it. */
export const fail = (message: string): never => {
  throw new CommandRefused({ message })
}

/** Parts of a template that have a file of their own. */
export const FILES = ["subject", "html", "text"] as const
export type FileName = (typeof FILES)[number]

export interface LocalWords {
  readonly subject: string | null
  readonly html: string | null
  readonly text: string | null
  readonly preheader: string | null
}
export const NO_WORDS: LocalWords = { subject: null, html: null, text: null, preheader: null }

/** A template as a folder holds it. */
export interface LocalTemplate extends LocalWords {
  readonly alias: string
  readonly kind: "template" | "layout" | "partial"
  readonly name: string
  readonly description: string | null
  readonly from: string | null
  readonly reply_to: ReadonlyArray<string>
  readonly layout: string | null
  readonly locales: Readonly<Record<string, LocalWords>>
  readonly variables: Readonly<Record<string, unknown>> | null
  /** `false` leaves it a draft when the others are published. */
  readonly publish: boolean
  /** Language of another service in which the words are; absent for Liquid. */
  readonly language?: "handlebars" | "mustachio" | "resend"
}

/** Returns a template as the API takes it. */
export const pushedOf = (template: LocalTemplate, base?: string | null): PushedTemplate => ({
  ...template,
  ...(base === undefined ? {} : { base: base ?? "none" }),
})
