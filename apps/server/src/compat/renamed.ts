import * as Table from "@waybill/domain/values/Table"
import * as Respelling from "./Respelling.ts"

/** Calls fields in refusals of our own API as the other service calls them; `names` maps our name to theirs. */
export const renamed = (names: Readonly<Record<string, string>>) =>
  Respelling.respelled((path) => path.replace(/^\w+/u, (name) => Table.at(names, name) ?? name))
