import type { Waybill } from "@waybill/client/Waybill"
import * as Table from "@waybill/domain/values/Table"
import { Effect } from "effect"
import { CommandRefused } from "../../process/CommandRefused.ts"
import * as ApiClient from "./ApiClient.ts"

/** The begin of an id, as a list in a narrow terminal shows it. */
const BEGIN = /^((msg|req|inb|whd)_[0-9a-z]{12,25})…?$/u
const ID_LENGTH = 30

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

/** Returns the id that begins with a text, or the text if it is no such begin. */
export const find = Effect.fnUntraced(function* (text: string, page?: Page) {
  const [, begin = "", kind = ""] = BEGIN.exec(text) ?? []
  const list = page ?? Table.at(LISTS, kind)
  if (begin === "" || list === undefined) return text
  const { data } = yield* ApiClient.call((client) => list(client, { after: begin.padEnd(ID_LENGTH, "z"), limit: 2 }))
  const found = data.filter(({ id }) => id.startsWith(begin))
  if (found.length > 1)
    return yield* new CommandRefused({ message: `Several ids begin with ${begin}: give more of it.` })
  return found[0]?.id ?? text
})

/** Calls the API with an id, of which the begin is enough. */
export const call = <A>(text: string, request: (client: Waybill, id: string) => Promise<A>, page?: Page) =>
  Effect.flatMap(find(text, page), (id) => ApiClient.call((client) => request(client, id)))
