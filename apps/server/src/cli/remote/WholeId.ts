import type { Waybill } from "@waybill/client/Waybill"
import * as Table from "@waybill/domain/values/Table"
import { Effect } from "effect"
import { CommandRefused } from "../../process/CommandRefused.ts"
import * as ApiClient from "./ApiClient.ts"

/** The begin of an id, or an id without its middle as a list in a narrow terminal shows it: `msg_01kb7gcb…5tvx`. */
const PART = /^(?=.{17})((msg|req|inb|whd)_[0-9a-z]{8,25})(?:…([0-9a-z]*))?$/u
const ID_LENGTH = 30
/** Ids that are looked through for one with an end. So many have the same begin if 250 mails are sent in a second. */
const PAGE = 100
const MOST_PAGES = 5

type Page = (
  client: Waybill,
  query: { readonly after: string; readonly limit: number },
) => Promise<{ readonly data: ReadonlyArray<{ readonly id: string }> }>

/** Lists in the order of their ids, newest first. */
const LISTS: Readonly<Record<string, Page>> = {
  msg: (client, query) => client.logs.list(query),
  req: (client, query) => client.requests.list(query),
  inb: (client, query) => client.inbound.list(query),
}

/** Returns the id that a text is a part of, or the text if it is no such part. */
export const find = Effect.fnUntraced(function* (text: string, page?: Page) {
  const [, begin = "", kind = "", end = ""] = PART.exec(text) ?? []
  const list = page ?? Table.at(LISTS, kind)
  if (begin === "" || list === undefined) return text
  const found: Array<string> = []
  let after = begin.padEnd(ID_LENGTH, "z")
  for (let nth = 0; nth < MOST_PAGES; nth++) {
    const { data } = yield* ApiClient.call((client) => list(client, { after, limit: PAGE }))
    found.push(...data.flatMap(({ id }) => (id.startsWith(begin) && id.endsWith(end) ? [id] : [])))
    const last = data.at(-1)?.id ?? ""
    if (end === "" || data.length < PAGE || !last.startsWith(begin)) break
    after = last
  }
  if (found.length > 1) return yield* new CommandRefused({ message: `Several ids are ${text}: give more of it.` })
  return found[0] ?? text
})

/** Calls the API with an id, of which a part is enough. */
export const call = <A>(text: string, request: (client: Waybill, id: string) => Promise<A>, page?: Page) =>
  Effect.flatMap(find(text, page), (id) => ApiClient.call((client) => request(client, id)))
