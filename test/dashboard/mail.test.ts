import * as TrackedHtml from "@waybill/mail/compose/TrackedHtml"
import { assert, it } from "vitest"
import * as Browser from "./support/Browser.ts"
import { inDashboard, TIMEOUT } from "./support/inDashboard.ts"
import * as ContactSheet from "./support/ContactSheet.ts"

const HOUR_MS = 3_600_000

/** HTML with everything the checks look for: too large, an image without alt text, broken links, a missing attachment. */
const BAD_HTML =
  `<style>p { color: red }</style><p style="color: red" onclick="alert(1)">Hello</p>` +
  `<script>document.title = "taken over"</script>` +
  `<img src="cid:lost"><a href="javascript:alert(1)">Run</a><a href="http://localhost/">Home</a>` +
  `<a href="https://example.org/real">Real</a><p>${"x".repeat(110 * 1024)}</p>`

const FRAGMENTS =
  `<|</|>|<a |<a href=|<a href='https://x.test/1'>|<a href="https://x.test/2&amp;b">|<a href=https://x.test/3>|</a>|href='|"` +
  `|'|=|/| |<!--|-->|--|!|<!|<?|<style>|</style>|</STYLE >|<script>|</script>|<script|</body>|<body>|<title>|</title>` +
  `|<textarea>|</textarea>|<xmp>|<iframe>|</iframe>|<noscript>|<div|<p>|<table>|<td>|&|&#|&amp;|&copy|é|x|text|\n|\t` +
  `|<b title="|<img alt='>'|<plaintext>|<!DOCTYPE html>|<![if !mso]>|<![endif]>|<!--[if mso]>|<![endif]-->|</p` +
  `|<area href=https://x.test/4>|<a/href='https://x.test/5'/>`

/** Malformed HTML documents, the same in every run with the same seed. */
const malformedDocuments = (count: number): ReadonlyArray<string> => {
  const fragments = FRAGMENTS.split("|")
  let seed = Number(process.env["WAYBILL_FUZZ_SEED"] ?? 20261121) || 1
  const next = (below: number) => (seed = (seed * 48_271) % 2_147_483_647) % below
  return Array.from({ length: count }, () =>
    Array.from({ length: 1 + next(14) }, () => fragments[next(fragments.length)]).join(""),
  )
}

await inDashboard("emails in the dashboard", (opened) => {
  const waitForHeading = (name: string) => opened.tab.page.getByRole("heading", { name }).first().waitFor()

  it("asks once before it sends an email without a subject or text", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    await page.goto("/compose")
    await page.getByLabel("To", { exact: true }).fill("ana@example.org")
    await page.getByRole("button", { name: "Send", exact: true }).click()
    const dialog = page.getByRole("alertdialog")
    await dialog.getByRole("heading", { name: "Send without a subject and text?" }).waitFor()
    await ContactSheet.shoot(page, "compose-empty")
    await dialog.getByRole("button", { name: "Back to the email" }).click()
    await page.getByRole("textbox", { name: "Subject" }).fill("Nothing inside")
    await page.getByRole("button", { name: "Send", exact: true }).click()
    await dialog.getByRole("heading", { name: "Send without text?" }).waitFor()
    await dialog.getByRole("button", { name: "Send anyway" }).click()
    await page.getByText("Email queued.").waitFor()
    await page.locator("li[data-event='email.queued']").waitFor()
    assert.include(await page.locator("li[data-event='email.queued']").innerText(), "The message has no body")
  })

  it("offers what can be done about a recipient", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    const menu = () => page.getByRole("button", { name: "Actions for ana@example.org" }).click()
    const url = page.url()
    await menu()
    assert.deepStrictEqual(await page.getByRole("menuitem").allTextContents(), [
      "Mail to this address",
      "Suppress address",
      "Copy address",
    ])
    await page.getByRole("menuitem", { name: "Mail to this address" }).click()
    await page.getByRole("link", { name: /Nothing inside/u }).waitFor()
    assert.strictEqual(await page.getByLabel("Search emails").inputValue(), "to:ana@example.org")
    await page.goto(url)
    await menu()
    await page.getByRole("menuitem", { name: "Suppress address" }).click()
    await page.getByText("ana@example.org suppressed: no more mail, scheduled mail included.").waitFor()
    await page.getByRole("button", { name: "Undo" }).click()
    await page.getByText("ana@example.org receives mail again.").waitFor()
  })

  it("sends a composed email as the signed-in user", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    await page.goto("/compose")
    // Nothing is written for the author, and the button is in sight on a low screen.
    assert.strictEqual(await page.getByLabel("HTML").inputValue(), "")
    await page.getByText("Nothing to preview yet.").waitFor()
    await page.setViewportSize({ width: 1280, height: 700 })
    const { height = 0, y = 0 } = (await page.getByRole("button", { name: "Send", exact: true }).boundingBox()) ?? {}
    assert.isAtMost(y + height, 700)
    await page.getByLabel("To", { exact: true }).fill("ana@example.org")
    await page.getByLabel("Subject").fill("A bad example")
    await page
      .getByLabel("HTML")
      .fill("<style>@media (prefers-color-scheme: dark) { p { color: rgb(1, 2, 3) } }</style><p>Seen</p>")
    const seen = page.frameLocator("iframe").getByText("Seen")
    const color = () => seen.evaluate((element) => getComputedStyle(element).color)
    await Browser.eventually(color).toBe("rgb(0, 0, 0)")
    await page.getByRole("button", { name: "Dark mode" }).click()
    await Browser.eventually(color).toBe("rgb(1, 2, 3)")
    await page.getByRole("button", { name: "Phone", exact: true }).click()
    await Browser.eventually(async () => (await page.locator("iframe").boundingBox())?.width).toBe(390)
    await page.getByRole("button", { name: "Desktop", exact: true }).click()
    await page.setViewportSize(Browser.DESKTOP)
    await page.getByLabel("HTML").fill(BAD_HTML)
    await page.getByLabel("Tags").fill("trial")
    // The text of a key is shown once. Later its variable stands for it.
    await page.getByText("Authorization: Bearer $WAYBILL_KEY").waitFor()
    await page.getByRole("button", { name: "Send", exact: true }).click()
    await waitForHeading("A bad example")
    await page.locator("li[data-event='email.delivered']").waitFor()
    const { json } = await opened.instance.request("GET", "/email/logs?tag=trial")
    const events = await opened.instance.request("GET", `/email/logs/${json.data[0].id}/events`)
    assert.strictEqual(events.json.data[0].actor.type, "user")
  })

  it("runs no script of an email in its preview", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    await page.frameLocator("iframe").getByText("Hello").waitFor()
    const frame = page.frames().find((each) => each.url().includes("/preview/template"))
    assert.strictEqual(await frame?.title(), "")
    for (const [tabName, text] of [
      ["HTML", "cid:lost"],
      ["Headers", "DKIM-Signature"],
      ["Raw", "MIME-Version"],
    ] as const) {
      await page.getByRole("tab", { name: tabName }).click()
      await page.getByRole("tabpanel").getByText(text).first().waitFor()
    }
  })

  it("tracking rewrites exactly the links that a browser finds and changes no text", { timeout: TIMEOUT }, async () => {
    const OPEN = "https://t.test/open"
    const click = (url: string) => `https://t.test/${encodeURIComponent(url)}`
    const tracked = (html: string) =>
      TrackedHtml.write(html, TrackedHtml.find({ html, own: new Set(), links: true }), { click, open: OPEN })
    const documents = malformedDocuments(1_500).map((html) => [html, tracked(html)])
    // A separate page, because the content security policy of the dashboard reports each inline style.
    const empty = await opened.tab.context.newPage()
    const differing = await empty.evaluate((pairs) => {
      const parse = (html: string) => {
        const parsed = new DOMParser().parseFromString(html, "text/html")
        const pixels = [...parsed.querySelectorAll("img[src='https://t.test/open']")]
        for (const pixel of pixels) pixel.remove()
        const links = [...parsed.querySelectorAll("a[href],area[href]")].map((each) => each.getAttribute("href") ?? "")
        return { text: parsed.documentElement.textContent, links, pixels: pixels.length }
      }
      return pairs.filter(([html = "", tracked = ""]) => {
        const [before, after] = [parse(html), parse(tracked)]
        const trackedLinks = after.links.filter((each) => each.startsWith("https://t.test/"))
        const targets = after.links.map((each) => decodeURIComponent(each.replace(/^https:\/\/t\.test\//u, "")))
        const expected = before.links.filter((each) => /^https:\/\/x\.test\/\d[&\w]*$/u.test(each))
        const isSame = before.text === after.text && before.links.join(" ") === targets.join(" ")
        return !isSame || trackedLinks.length < expected.length || after.pixels > 1
      })
    }, documents)
    await empty.close()
    assert.deepEqual(differing, [])
  })

  it("checks a captured message and shows its problems", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    await page.goto("/sandbox")
    await waitForHeading("A bad example")
    await page.getByRole("tab", { name: /^Checks/u }).click()
    for (const message of [
      "Gmail clips messages over 102.0 KB",
      "1 of 1 images have no alt text",
      "No attachment for cid:lost",
      "These links will not work for recipients: javascript:alert(1), http://localhost/",
      "acme.test is reserved for tests",
      "DKIM signature of acme.test",
    ])
      await Browser.eventually(() => page.getByRole("tabpanel").textContent()).toContain(message)
    await page.getByRole("tab", { name: /^Links/u }).click()
    // The javascript: address is shown as text, not as a link.
    const links = page.getByRole("tabpanel").getByRole("link")
    await links.first().waitFor()
    assert.deepEqual(await links.allTextContents(), ["http://localhost/", "https://example.org/real"])
  })

  // threat: dashboard-text
  it("shows hidden characters of a subject and isolates its text direction", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    await opened.instance.request("POST", "/email/send", {
      from: "hello@acme.test",
      to: "ana@example.org",
      subject: "Invoice \u202egpj.exe \u001b[31mred",
      text: "x",
      scheduled_at: new Date(Date.now() + HOUR_MS).toISOString(),
    })
    await page.goto("/emails")
    const subject = page.getByText("Invoice [U+202E]gpj.exe ␛[31mred").first()
    await subject.waitFor()
    assert.strictEqual(await subject.evaluate((node) => getComputedStyle(node).unicodeBidi), "isolate")
    await subject.click()
    await waitForHeading("Invoice [U+202E]gpj.exe ␛[31mred")
  })

  it("reschedules a scheduled email, undoes it and cancels the email", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    const scheduled_at = new Date(Date.now() + HOUR_MS).toISOString()
    const sent = await opened.instance.request("POST", "/email/send", {
      from: "hello@acme.test",
      to: "ana@example.org",
      subject: "Later",
      text: "Not yet.",
      scheduled_at,
    })
    const scheduled = async () =>
      (await opened.instance.request("GET", `/email/logs/${sent.json.id}`)).json.scheduled_at
    await page.goto(`/emails/${sent.json.id}`)
    await page.getByRole("button", { name: "Reschedule" }).click()
    const later = new Date(Date.now() + 2 * HOUR_MS).toISOString()
    await page.getByLabel("Send at").fill(later.slice(0, 16))
    await page.getByRole("dialog").getByRole("button", { name: "Reschedule" }).click()
    await page.getByText("Email rescheduled.", { exact: true }).waitFor()
    assert.strictEqual(await scheduled(), `${later.slice(0, 16)}:00.000Z`)
    await page.getByRole("button", { name: "Undo" }).click()
    await Browser.eventually(scheduled).toBe(scheduled_at)
    await page.getByRole("button", { name: "Cancel", exact: true }).click()
    await page.getByRole("button", { name: "Cancel email" }).click()
    await page.locator("li[data-event='email.canceled']").waitFor()
    assert.strictEqual((await opened.instance.request("GET", `/email/logs/${sent.json.id}`)).json.status, "canceled")
  })

  it("renders only the visible rows of a long list", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    const emails = Array.from({ length: 100 }, (_, nth) => ({
      from: "hello@acme.test",
      to: `reader${nth}@example.org`,
      subject: `Number ${nth}`,
      text: "One of many.",
    }))
    assert.isBelow((await opened.instance.request("POST", "/email/send/batch", { emails })).status, 300)
    await page.goto("/emails")
    const rows = page.getByRole("list", { name: "Emails" }).getByRole("listitem")
    await page
      .getByRole("link", { name: /Number/u })
      .first()
      .waitFor()
    for (let nth = 0; nth < 60; nth++) await page.keyboard.press("j")
    await Browser.eventually(() => page.evaluate("scrollY > 1000")).toBe(true)
    assert.isBelow(await rows.count(), 60)
    await page.keyboard.press("Enter")
    await page.getByRole("heading", { level: 1, name: /Number \d+/u }).waitFor()
  })

  it("says what happened to an email, and sends it again without the suppression", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    const bounced = "bounced+2@customers.test"
    const message = { from: "hello@acme.test", to: bounced, subject: "To a lost mailbox", text: "Hello." }
    const first: string = (await opened.instance.request("POST", "/email/send", message)).json.id
    const emailOf = async (id: string) => (await opened.instance.request("GET", `/email/logs/${id}`)).json
    await Browser.eventually(async () => (await emailOf(first)).status).toBe("bounced")
    // The simulator suppresses nobody.
    assert.strictEqual((await opened.instance.request("POST", "/suppressions", { email: bounced })).status, 201)
    await page.goto(`/emails/${first}`)
    const panel = page.locator("section").filter({ has: page.getByRole("heading", { name: "What happened" }) })
    await panel
      .getByText(/^Simulated\. The mailbox does not exist \(550 5\.1\.1\)\. .* The address is now suppressed/u)
      .waitFor()
    await panel.getByText(/remove its suppression and send again\.$/u).waitFor()
    const bounce = page.locator("li[data-event='email.bounced']")
    await bounce.getByText("The mailbox does not exist. invalid_recipient", { exact: true }).waitFor()
    await ContactSheet.shoot(page, "email-bounced")
    await panel.getByRole("button", { name: "Remove and send again" }).click()
    await page.getByRole("alertdialog").getByRole("button", { name: "Remove and send again" }).click()
    await page.getByText("Suppression removed, copy queued.").waitFor()
    const { json } = await opened.instance.request("GET", `/suppressions?q=${encodeURIComponent(bounced)}`)
    assert.deepEqual(json.data, [])
    assert.lengthOf((await emailOf(first)).copies, 1)
  })

  it("shows headers and source of mail in any state, and whether it was sent", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    const scheduled_at = new Date(Date.now() + HOUR_MS).toISOString()
    const send = async (over: object): Promise<string> => {
      const message = { from: "hello@acme.test", to: "ana@example.org", subject: "Hello", text: "Hello.", ...over }
      return (await opened.instance.request("POST", "/email/send", message)).json.id
    }
    const statusOf = async (id: string) => (await opened.instance.request("GET", `/email/logs/${id}`)).json.status
    const states: ReadonlyArray<readonly [id: string, status: string, note: string | null]> = [
      [
        await send({ subject: "Later", scheduled_at }),
        "queued",
        "Not sent yet. This is the message as it will be sent.",
      ],
      [await send({ subject: "Never", scheduled_at }), "canceled", "This email was never sent."],
      [await send({ to: "bounced@customers.test" }), "bounced", "as it was composed for delivery"],
      [await send({}), "delivered", null],
    ]
    await opened.instance.request("POST", `/email/${states[1]?.[0]}/cancel`)
    for (const [id, status, note] of states) {
      await Browser.eventually(() => statusOf(id)).toBe(status)
      await page.goto(`/emails/${id}`)
      for (const name of ["Headers", "Raw"]) {
        await page.getByRole("tab", { name, exact: true }).click()
        const panel = page.getByRole("tabpanel", { name, exact: true })
        await panel.getByText(`<${id}@acme.test>`).first().waitFor()
        const text = (await panel.textContent()) ?? ""
        assert.strictEqual(text.includes("DKIM-Signature"), note === null, `${status} ${name}`)
        if (note !== null) assert.include(text, note)
      }
    }
  })

  it("shows a sent email as readers see it in the dark", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    const style = "<style>@media (prefers-color-scheme: dark) { p { color: rgb(1, 2, 3) } }</style>"
    const email = {
      from: "hello@acme.test",
      to: ["ana@example.org", "bo@example.org"],
      subject: "Dark",
      html: `${style}<p>Seen</p>`,
    }
    const { json } = await opened.instance.request("POST", "/email/send", email)
    await page.goto(`/emails/${json.id}`)
    await page.frameLocator("iframe").getByText("Seen").waitFor()
    await page.getByRole("button", { name: "Dark mode" }).click()
    const seen = page.frameLocator("iframe >> nth=0").getByText("Seen")
    await Browser.eventually(() => seen.evaluate((element) => getComputedStyle(element).color)).toBe("rgb(1, 2, 3)")
    await ContactSheet.shoot(page, "email-dark")
    await page.getByRole("button", { name: "Dark mode" }).click()
    // On a phone, the recipients and what happened come before the content.
    await page.setViewportSize({ width: 390, height: 844 })
    const topOf = async (name: string) =>
      (await page.getByRole("heading", { level: 2, name }).boundingBox())?.y ?? Number.NaN
    const content = (await page.locator("iframe").boundingBox())?.y ?? 0
    const tops = [await topOf("Recipients"), await topOf("Timeline"), content, await topOf("Details")]
    assert.deepStrictEqual(
      tops,
      tops.toSorted((one, other) => one - other),
    )
    await page.setViewportSize(Browser.DESKTOP)
  })

  it("logs no console errors except for blocked scripts of previews", () => {
    // The request log has a request a moment after its answer; an email that is opened sooner has no link to it.
    assert.deepEqual(
      opened.tab.consoleErrors.filter((each) => !/\/preview\/(?:emails\/|template)|\/v1\/requests\/req_/u.test(each)),
      [],
    )
  })
})
