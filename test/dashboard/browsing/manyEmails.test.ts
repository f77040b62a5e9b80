import { assert, beforeAll, it } from "vitest"
import * as Browser from "../support/Browser.ts"
import { inDashboard, TIMEOUT } from "../support/inDashboard.ts"
import * as ContactSheet from "../support/ContactSheet.ts"

/** Emails that somebody opens one after another. */
const EMAILS = 20

await inDashboard("looking through many emails in the dashboard", (opened) => {
  const ids: Array<string> = []

  beforeAll(async () => {
    for (let nth = 0; nth < EMAILS; nth++) {
      const email = {
        from: "hello@acme.test",
        to: `ana${nth}@example.org`,
        subject: `Mail ${nth}`,
        html: `<p>Text ${nth}.</p>`,
      }
      ids.push((await opened.instance.request("POST", "/email/send", email)).json.id)
    }
  }, TIMEOUT)

  it("opens one event stream, is never refused, and shows every preview", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    const streams: Array<string> = []
    const refused: Array<string> = []
    page.on("request", (request) => {
      if (request.url().includes("/v1/events/stream")) streams.push(request.url())
    })
    page.on("response", (response) => {
      // The request log has a call a moment after its answer.
      if (response.status() >= 400 && !response.url().includes("/v1/requests/"))
        refused.push(`${response.status()} ${response.url()}`)
    })
    await page.goto("/emails")
    for (let nth = 0; nth < EMAILS; nth++) {
      await page.getByRole("link", { name: new RegExp(`Mail ${nth}(?!\\d)`, "u") }).click()
      await page.frameLocator("iframe").getByText(`Text ${nth}.`).waitFor()
      await page.getByRole("link", { name: "Emails", exact: true }).first().click()
      await page.getByRole("heading", { level: 1, name: "Emails" }).waitFor()
    }
    assert.deepStrictEqual(refused, [])
    assert.deepStrictEqual(streams.length, 1)
  })

  it(
    "shows what happens to an email that was opened while the stream was already open",
    { timeout: TIMEOUT },
    async () => {
      const { page } = opened.tab
      const scheduled_at = new Date(Date.now() + 36e5).toISOString()
      const email = {
        from: "hello@acme.test",
        to: "ana@example.org",
        subject: "Later",
        html: "<p>Later.</p>",
        scheduled_at,
      }
      const { id } = (await opened.instance.request("POST", "/email/send", email)).json
      await page.getByRole("link", { name: /Later/u }).click()
      await page.getByText("Nothing was sent yet.").first().waitFor()
      await opened.instance.request("POST", `/email/${id}/cancel`)
      await page.locator("li[data-event='email.canceled']").waitFor()
      const note = page.getByRole("note").filter({ hasText: "Canceled on" })
      await note.waitFor()
      await Browser.eventually(() => note.innerText()).toContain("Nothing was sent.")
    },
  )

  it(
    "shows words in place of a preview that is refused, and the preview when it is tried again",
    { timeout: TIMEOUT },
    async () => {
      const { page } = opened.tab
      const user = (await opened.instance.request("GET", "/members")).json.data[0].id
      let release = (): void => undefined
      const isLimited = new Promise<void>((resolve) => (release = resolve))
      // Only the preview is requested once the limit is reached.
      await page.route(/\/preview\/emails\//u, (route) => isLimited.then(() => route.continue()), { times: 1 })
      await page.goto(`/emails/${ids[1]}`)
      await page.getByRole("heading", { level: 2, name: "Timeline" }).waitFor()
      await opened.instance.sql(
        `INSERT INTO rate_windows (bucket, window_start, count)
       SELECT '${user}/other', date_trunc('minute', now()) + n * interval '1 minute', 100000 FROM generate_series(0, 1) AS n
       ON CONFLICT (bucket, window_start) DO UPDATE SET count = 100000`,
      )
      release()
      const refusal = page.getByRole("tabpanel", { name: "Preview" }).getByRole("alert")
      await refusal.getByText(/requests per minute/u).waitFor()
      assert.notMatch(await refusal.innerText(), /[{}"]/u)
      await opened.instance.sql(`DELETE FROM rate_windows WHERE bucket = '${user}/other'`)
      await ContactSheet.shoot(page, "preview-refused")
      await refusal.getByRole("button", { name: "Try again" }).click()
      await page.frameLocator("iframe").getByText("Text 1.").waitFor()
      await opened.instance.sql("DELETE FROM content")
      await page.reload()
      await page.getByRole("heading", { name: "Content deleted" }).waitFor()
      await ContactSheet.shoot(page, "preview-deleted")
    },
  )
})
