import * as Logs from "@waybill/api/groups/Logs"
import * as EmailSearch from "@waybill/domain/search/EmailSearch"
import * as SearchText from "@waybill/domain/search/SearchText"
import type { Query } from "@waybill/store/search/EmailLogFilter"
import { assert, describe, it } from "../../support/effectTest.ts"
import { read } from "../source.ts"

/** Filters that the store calls otherwise. */
type Renamed = { tag: "tags"; message_id: "id" }
type OfApi = keyof typeof Logs.filters
type InStore = Exclude<OfApi, keyof Renamed> | Renamed[keyof Renamed]
/** The page, and free words, which are no filter. */
type OfPage = "account_id" | "after" | "before" | "limit" | "words"
/** Filters that the API or the store lacks. */
type Different = Exclude<InStore, keyof Query> | Exclude<keyof Query, InStore | OfPage>
const isSame: [Different] extends [never] ? true : Different = true

/** A value that each field of a search understands. */
const VALUES: { readonly [F in SearchText.Field]: ReadonlyArray<string> } = {
  from: ["hello@acme.com", "acme.com"],
  to: ["ana@example.org", "ana"],
  subject: ["order"],
  tag: ["welcome"],
  metadata: ["order=7041"],
  domain: ["acme.com"],
  is: ["bounced"],
  anyone: ["bounced"],
  code: ["550"],
  provider: ["gmail"],
  key: ["Website"],
  template: ["welcome"],
  since: ["7d"],
  until: ["today"],
  scheduled: ["tomorrow"],
  id: ["msg_01kakz5xq8e4vb2m0r7c3d9h1t"],
}
const CONTEXT: EmailSearch.Context = {
  keys: [{ id: "key_01kakz5xq8e4vb2m0r7c3d9h1t", name: "Website" }],
  templates: [{ id: "tpl_01kakz5xq8e4vb2m0r7c3d9h1t", name: "Welcome", alias: "welcome" }],
  now: 1_795_000_000_000,
}

/** Options of `waybill emails list` with another name than the filter. */
const OPTIONS: Readonly<Record<string, string>> = { since: "created_after", until: "created_before" }
/** Filters that its search takes, and no option: an option for each would hide the ones that people use. */
const TYPED_ALONE = [
  "api_key_id",
  "message_id",
  "recipient",
  "recipient_status",
  "scheduled_after",
  "scheduled_before",
  "template",
]

const sorted = (names: Iterable<string>) => [...new Set(names)].toSorted()

describe("filters of the email log", () => {
  const ofApi = sorted(Object.keys(Logs.filters))

  it("are the same in the API and in the store", () => {
    assert.isTrue(isSame)
  })

  it("can all be typed in a search, and no others", () => {
    const typed = SearchText.FIELDS.flatMap((field) =>
      VALUES[field].flatMap((value) => {
        const { filters, isUnderstood } = EmailSearch.parse(`${field}:${value}`, CONTEXT)
        assert.isTrue(isUnderstood, `${field}:${value}`)
        return Object.keys(filters).map((name) => name.replace(/\..*/u, ""))
      }),
    )
    assert.deepStrictEqual(sorted(typed), ofApi)
  })

  it("are options of `waybill emails list`, or typed in its search", () => {
    const { text } = read("apps/server/src/cli/remote/emails/emails.ts")
    const [, list = ""] = /"List emails, newest first",\n {2}\{\n([^]*?)^ {2}\},\n/mu.exec(text) ?? []
    const options = [...list.matchAll(/^ {4}(\w+):/gmu)].map(([, name = ""]) => OPTIONS[name] ?? name)
    assert.deepStrictEqual(sorted([...options, ...TYPED_ALONE]), sorted([...ofApi, "limit", "search"]))
  })

  it("are explained where the documentation explains a search", () => {
    const { text } = read("docs/command-line.md")
    const explained = [...text.matchAll(/^\| (`[^|]*`) \|/gmu)].flatMap(([, cell = ""]) =>
      [...cell.matchAll(/`([a-z]+):/gu)].map(([, field = ""]) => field),
    )
    assert.includeMembers(explained, [...SearchText.FIELDS])
  })
})
