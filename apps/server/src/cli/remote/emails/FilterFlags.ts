import type * as T from "@waybill/client/Waybill"
import * as EmailFilter from "@waybill/domain/search/EmailFilter"
import * as EmailSearch from "@waybill/domain/search/EmailSearch"
import * as SearchedStatus from "@waybill/domain/search/SearchedStatus"
import { Option } from "effect"
import { Flag } from "effect/cli"
import * as Options from "../../Options.ts"
import * as Flags from "../Flags.ts"

/** Returns the flag of a filter, whose value is a part of the query. */
const flagOf = (filter: EmailFilter.Name, name: string, description: string): Flag.Flag<T.LogsQuery> => {
  const { kind, words } = EmailFilter.of(filter)
  switch (kind) {
    case "statuses":
      return listOf(filter, description, Flag.Literals(name, SearchedStatus.OF_API), SearchedStatus.OF_API.length)
    case "tags":
      return listOf(filter, description, Flag.String(name), EmailFilter.MAX_TAGS)
    case "pairs":
      return Flag.map(Flags.pairs(name, description, EmailFilter.MAX_PAIRS), (pairs) =>
        pairs.length === 0 ? {} : { [filter]: Object.fromEntries(pairs) },
      )
    case "time":
      return given(Flags.time(name, description), (time) => ({ [filter]: time }))
    default:
      // A part of an address, or its domain, is another filter.
      return given(Options.text(name, description), (text) => {
        const meant = EmailSearch.filterOf(words[0], text) ?? filter
        return { [meant]: EmailFilter.of(meant).kind === "domain" ? text.replace(/^@/u, "") : text }
      })
  }
}

const given = <A>(flag: Flag.Flag<Option.Option<A>>, queryOf: (value: A) => T.LogsQuery) =>
  Flag.map(flag, (value) => Option.match(value, { onNone: () => ({}), onSome: queryOf }))

const listOf = (filter: EmailFilter.Name, description: string, flag: Flag.Flag<string>, most: number) =>
  flag.pipe(
    Flag.withDescription(`${description}; repeat for several`),
    Flag.between(0, most),
    Flag.map((values) => (values.length === 0 ? {} : { [filter]: values })),
  )

/** The flags of filters that have one: a flag for each would hide the ones that people use. */
export const ALL = EmailFilter.NAMES.flatMap((filter) => {
  const { option } = EmailFilter.of(filter)
  return option === undefined ? [] : [flagOf(filter, ...option)]
})
