import * as SiteRules from "@waybill/mail/site/SiteRules"
import { Effect, Option, Schema } from "effect"
import { readFile } from "node:fs/promises"
import { SettingsWrong } from "../settings/Settings.ts"

const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(SiteRules.RulesFile), { onExcessProperty: "error" })

/** Reads the rules of SITE_RULES; they come before the built-in ones, of which the first that matches decides. */
export const readSiteRules = Effect.fnUntraced(function* (file: Option.Option<string>) {
  if (Option.isNone(file)) return SiteRules.RULES
  const path = file.value
  const text = yield* Effect.tryPromise({
    try: () => readFile(path, "utf8"),
    catch: () => wrong(`SITE_RULES names the file ${path}, which cannot be read.`),
  })
  const { rules } = yield* Effect.mapError(decode(text), (error) =>
    wrong(`SITE_RULES: ${path} is invalid: ${error.message.replace(/\s+/gu, " ")}`),
  )
  return [...rules, ...SiteRules.RULES]
})

const wrong = (problem: string) => new SettingsWrong({ problems: [problem] })
