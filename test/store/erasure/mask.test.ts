import type * as Address from "@waybill/domain/values/Address"
import * as Mask from "@waybill/store/erasure/Mask"
import { assert, describe, it } from "vitest"

const HERS = "erased-1@erased.invalid"
const maskOf = (address: string) => Mask.make(address as Address.Address, HERS as Address.Address)
const mask = maskOf("Ana@example.org")

/** Whether SQL's LIKE would find the text by a pattern, in lower-case ASCII. */
const isFound = (address: string, text: string): boolean =>
  Mask.patterns(address as Address.Address).some((pattern) =>
    new RegExp(`^${pattern.replaceAll("%", ".*")}$`, "su").test(text.replaceAll(/[A-Z]/gu, (c) => c.toLowerCase())),
  )

describe("a mask", () => {
  it.for([
    ["ana@example.org", HERS],
    ["Undeliverable to <ANA@Example.ORG>.", `Undeliverable to <${HERS}>.`],
    ["mail ana@example.org, ana@example.org", `mail ${HERS}, ${HERS}`],
    ["https://x.test/?u=ana%40example.org&v=1", `https://x.test/?u=${HERS}&v=1`],
    ["https://x.test/?email=ana@example.org", `https://x.test/?email=${HERS}`],
    ["https://x.test/?to=x&ana@example.org", `https://x.test/?to=x&${HERS}`],
    ["https://x.test/u/ana@example.org/settings", `https://x.test/u/${HERS}/settings`],
    ["https://x.test/u/ana%40example.org/settings", `https://x.test/u/${HERS}/settings`],
    ["https://x.test/#ana@example.org", `https://x.test/#${HERS}`],
    ["https://x.test/?q=hello%20ana%40example.org", `https://x.test/?q=hello%20${HERS}`],
    ["https://x.test/?next=%2F%3Femail%3Dana%2540example.org%26v", `https://x.test/?next=%2F%3Femail%3D${HERS}%26v`],
    ["mailto:ana@example.org?subject=x", `mailto:${HERS}?subject=x`],
    ["'ana@example.org' is unknown", `'${HERS}' is unknown`],
    ["*ana@example.org* and _ana@example.org_", `*${HERS}* and _${HERS}_`],
    ["`ana@example.org`|ana@example.org|{ana@example.org}", `\`${HERS}\`|${HERS}|{${HERS}}`],
    ["Hello...ana@example.org... bye", `Hello...${HERS}... bye`],
    ["to ana@example.org-", `to ${HERS}-`],
    ["<b>ana&#64;example.org</b> ana&commat;example.org", `<b>${HERS}</b> ${HERS}`],
    ["&lt;ana@example.org&gt;", `&lt;${HERS}&gt;`],
    ["two\\nana@example.org\\nlines", `two\\n${HERS}\\nlines`],
  ] as const)("replaces the address in %s", ([text, masked]) => {
    assert.strictEqual(mask.apply(text), masked)
    assert.isTrue(mask.contains({ deep: [{ text }] }))
    assert.isFalse(mask.mayContain([text]))
    assert.isTrue(isFound("Ana@example.org", text))
  })

  it.for([
    "diana@example.org",
    "diana%40example.org",
    "https://x.test/?u=diana%40example.org",
    "ana@example.org.uk",
    "ana%40example.org.uk",
    "ana%40example.orgs",
    "x.ana@example.org",
    "x-ana@example.org",
    "x_ana@example.org",
    "x+ana@example.org",
    "https://x.test/?u=x%2Bana%40example.org",
    "\u00e4ana@example.org",
    "%C3%A4ana%40example.org",
    "ana@example.orgs",
    "ana+x@example.org",
    "ana",
  ])("keeps %s, which is another address", (text) => {
    assert.strictEqual(mask.apply(text), text)
    assert.isFalse(mask.contains([text]))
    assert.isFalse(mask.mayContain([text]))
  })

  it.for([
    "l'adresse d'ana@example.org",
    "https://x.test/?q=hello+ana@example.org",
    "word__ana@example.org",
    "Write to ana@example.org.We answer",
    "/export/ana@example.org-2024.csv",
  ])("keeps and reports %s, which is undecidable", (text) => {
    assert.strictEqual(mask.apply(text), text)
    assert.isFalse(mask.contains({ text }))
    assert.isTrue(mask.mayContain({ text }))
    assert.isTrue(isFound("Ana@example.org", text))
  })

  it.for([
    ["ana-maria+x@example.org", "?u=ana-maria%2Bx%40example.org"],
    ["ana-maria+x@example.org", "ANA-MARIA+X@EXAMPLE.ORG"],
    ["o'brien@example.org", "o%27brien@example.org, O&#39;Brien@example.org"],
    ["änne@example.org", "ÄNNE@example.org"],
    ["änne@example.org", "?u=%C3%84nne%40example.org"],
    ["äñ@example.org", "ÄÑ@EXAMPLE.ORG"],
    ["ana@xn--bcher-kva.test", "ana@Bücher.test"],
    ["ana@xn--bcher-kva.test", "ana@BÜCHER.test and ana%40b%C3%BCcher.test"],
  ] as const)("replaces %s also when written as %s", ([address, text]) => {
    const { apply } = maskOf(address)
    assert.match(apply(text), /erased-1@erased\.invalid/u)
    assert.notMatch(apply(text), /example|b.{1,6}cher/iu)
    assert.isTrue(isFound(address, text))
  })

  it("removes the name given with the address, and no other", () => {
    const both = [
      { address: "ana@example.org", name: "Ana" },
      { address: "bo@example.org", name: "Bo" },
    ]
    assert.deepStrictEqual<unknown>(mask.apply(both), [{ address: HERS }, both[1]])
    const member = { user_id: "usr_1", email: "ana@example.org", name: "Ana" }
    assert.deepStrictEqual(mask.apply(member), { ...member, email: HERS, name: "erased" })
  })

  it("removes the network address of an open only if it is the person's", () => {
    const opened = { recipient: "ana@example.org", ip: "192.0.2.1", user_agent: "x", at: "now" }
    assert.deepInclude<unknown>(mask.applyToTrace(opened), { ip: null, user_agent: null, at: "now" })
    assert.deepInclude(mask.apply(opened), { ip: "192.0.2.1", user_agent: "x" })
  })
})
