import * as EmailFilter from "@waybill/domain/search/EmailFilter"
import { assert, it } from "../../support/effectTest.ts"
import { read } from "../source.ts"

it("filters of the email log are explained where the documentation explains a search", () => {
  const { text } = read("docs/command-line.md")
  const explained = [...text.matchAll(/^\| (`[^|]*`) \|/gmu)].flatMap(([, cell = ""]) =>
    [...cell.matchAll(/`([a-z]+):/gu)].map(([, field = ""]) => field),
  )
  assert.includeMembers(explained, [...EmailFilter.FIELDS])
})
