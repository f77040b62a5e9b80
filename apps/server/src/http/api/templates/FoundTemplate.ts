import { CurrentKey } from "@waybill/api/middleware/Authorization"
import * as TemplateRefusal from "@waybill/domain/template/TemplateRefusal"
import * as Templates from "@waybill/store/readmodels/templates/Templates"
import * as TemplateVersions from "@waybill/store/readmodels/templates/TemplateVersions"
import * as EmailStats from "@waybill/store/statistics/EmailStats"
import { Effect } from "effect"
import { found } from "../../../web/found.ts"

/** Finds a template by its id or alias. */
export const find = Effect.fnUntraced(function* (name: string) {
  const { account_id } = yield* CurrentKey
  return yield* found(Templates.find(account_id, name), () => new TemplateRefusal.TemplateNotFound())
})

export const findVersion = Effect.fnUntraced(function* (id: string, number: number) {
  const { account_id } = yield* CurrentKey
  return yield* found(TemplateVersions.find(account_id, id, number), () => new TemplateRefusal.VersionNotFound())
})

/** Returns the version that is sent; undefined before the first. */
export const sentOf = Effect.fnUntraced(function* ({ current_version, id }: Templates.TemplateRecord) {
  if (current_version === null) return undefined
  const { record, source } = yield* findVersion(id, current_version)
  return { ...record, source }
})

/** Refuses to take the name of a layout or partial away from what uses it. */
export const refuseUsed = Effect.fnUntraced(function* ({ alias, id, kind }: Templates.TemplateRecord) {
  if (kind === "template" || alias === null) return
  const { account_id } = yield* CurrentKey
  const users = yield* Templates.usersOf(account_id, id, alias)
  if (users.length > 0) return yield* new TemplateRefusal.TemplateInUse({ alias, users })
})

/** Returns when mail was last made of a template; `null` if never. */
export const usedAt = Effect.fnUntraced(function* (id: string) {
  const { account_id } = yield* CurrentKey
  return (yield* EmailStats.templatesUsed(account_id, [id])).get(id) ?? null
})
