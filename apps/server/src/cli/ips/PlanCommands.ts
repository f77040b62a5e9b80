import * as SiteRules from "@waybill/mail/site/SiteRules"
import * as SourceAddress from "@waybill/mail/source/SourceAddress"
import * as WarmUp from "@waybill/mail/source/WarmUp"
import * as WarmUpPlans from "@waybill/store/sources/WarmUpPlans"
import { Effect, Schema } from "effect"
import { readFileSync } from "node:fs"
import * as Settings from "../../settings/Settings.ts"
import { readSiteRules } from "../../sources/readSiteRules.ts"
import { CommandRefused } from "../../process/CommandRefused.ts"
import * as DataCommand from "../DataCommand.ts"
import * as Output from "../Output.ts"
import * as Ips from "./IpsCommand.ts"
import * as Options from "../Options.ts"

const STANDARD_INPUT = 0
const ANY = WarmUp.ANY_PROVIDER

const name = Options.argument("name", "Name of the plan")

const list = DataCommand.list({}, ["name", "days", "first", "last"], function* () {
  const own = yield* WarmUpPlans.list()
  const all = [{ name: WarmUp.STANDARD_NAME, plan: WarmUp.STANDARD }, ...own]
  return all.map(({ name, plan }) => {
    const { days } = Schema.decodeUnknownSync(WarmUp.Plan)(plan)
    return {
      name,
      days: days.length,
      first: days[0]?.[ANY],
      last: days.at(-1)?.[ANY],
    }
  })
})

const show = DataCommand.command({ name }, function* ({ json, name }) {
  const own = (yield* WarmUpPlans.list()).find((plan) => plan.name === name)?.plan
  const plan = own ?? (name === WarmUp.STANDARD_NAME ? WarmUp.STANDARD : undefined)
  if (plan === undefined) return yield* unknown(name)
  const { days } = Schema.decodeUnknownSync(WarmUp.Plan)(plan)
  const providers = [...new Set(days.flatMap((day) => Object.keys(day)))].toSorted()
  yield* json
    ? Output.printJson({ days }, 2)
    : Output.print(
        days.map((day, at) => ({ day: at + 1, ...day })),
        { json, columns: ["day", ...providers] },
      )
})

const add = DataCommand.record(
  {
    name,
    file: Options.argument("file", "JSON file with the days; - is standard input"),
  },
  function* ({ file, name }) {
    yield* Ips.checkName("plan", name)
    if (name === WarmUp.STANDARD_NAME || name === Ips.NONE) return yield* Ips.refuse(`The name ${name} is taken.`)
    const text = yield* Effect.try({
      try: () => readFileSync(file === "-" ? STANDARD_INPUT : file, "utf8"),
      catch: () => new CommandRefused({ message: `${file} cannot be read.` }),
    })
    const plan = yield* Schema.decodeUnknownEffect(Schema.fromJsonString(WarmUp.Plan), { onExcessProperty: "error" })(
      text,
    ).pipe(
      Effect.mapError(({ message }) => new CommandRefused({ message: `${file}: ${message.replace(/\s+/gu, " ")}` })),
    )
    if (!(yield* WarmUpPlans.put(name, plan)))
      return yield* Ips.refuse(`This instance has ${WarmUpPlans.MAX_PLANS} plans, the most it can have.`)
    const { siteRules } = yield* Settings.load
    const known = [ANY, SourceAddress.OTHER, ...SiteRules.providersOf(yield* readSiteRules(siteRules))]
    const unknown = [...new Set(plan.days.flatMap((day) => Object.keys(day)))].filter((each) => !known.includes(each))
    if (unknown.length > 0)
      yield* Output.complain(
        `waybill: no rule names ${unknown.join(", ")}, so these numbers have no effect. There are ${known.join(", ")}.`,
      )
    return { name, days: plan.days.length }
  },
)

const remove = DataCommand.record({ name }, function* ({ name }) {
  const plan = (yield* WarmUpPlans.list()).find((each) => each.name === name)
  if (plan === undefined) return yield* unknown(name)
  if (!(yield* WarmUpPlans.remove(name)))
    return yield* Ips.refuse(`Plan ${name} is in use by ${plan.addresses} addresses. Change their plan first.`)
  return { name, removed: true }
})

const unknown = (name: string) => Ips.refuse(`There is no plan ${name}. \`waybill ips plans list\` shows all.`)

export const plans = DataCommand.group({
  list: ["List the plans with the mails per provider of their first and last day", list],
  show: ["Show the table of a plan; * is each provider that a day does not name", show],
  add: ["Add a plan, or replace one of your own; addresses that use it follow the new one", add],
  remove: ["Remove a plan that no address uses", remove],
})
