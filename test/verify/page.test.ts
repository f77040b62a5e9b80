import { Effect } from "effect"
import { pathToFileURL } from "node:url"
import type { BrowserContext, Page } from "playwright-core"
import { PAGE } from "../../scripts/generate/verifyPage.ts"
import * as Accessibility from "../dashboard/support/Accessibility.ts"
import * as Browser from "../dashboard/support/Browser.ts"
import { assert, layer, type TestContext } from "../support/effectTest.ts"
import { HttpWorld } from "../support/world/HttpWorld.ts"
import * as MadeLog from "./MadeLog.ts"
import { sampleLog } from "./sampleLog.ts"

const { log, origin, own, keys, witnesses } = sampleLog()
const receipt = MadeLog.receiptOf(own, { keys, log, origin, witnesses, redact: ["bcc"] })
const text = JSON.stringify(receipt)
const forged = text
  .replace('"subject":{"salt"', '"subject":{"value":"<img src=x onerror=alert(1)>","salt"')
  .replace(/,"value":"Your[^}]*\}/u, "}")
const PHONE_PX = 390

const steps = (page: Page) => page.getByRole("list", { name: "Checks" }).getByRole("listitem")
const marks = (page: Page): Promise<ReadonlyArray<string>> =>
  steps(page)
    .getByRole("img")
    .evaluateAll((all) => all.map((mark) => (mark as { readonly ariaLabel?: string | null }).ariaLabel ?? ""))
const verdict = (page: Page) => page.getByRole("status").textContent()

/** Drops a file on the page, as a person would. */
const drop = (page: Page, name: string, content: string): Promise<void> =>
  page.evaluate(
    `(() => {
      const files = new DataTransfer()
      files.items.add(new File([${JSON.stringify(content)}], ${JSON.stringify(name)}))
      for (const type of ["dragover", "drop"])
        document.body.dispatchEvent(new DragEvent(type, { dataTransfer: files, bubbles: true, cancelable: true }))
    })()`,
  )

const usePage = async (page: Page, url: string): Promise<void> => {
  await page.goto(url)
  await page.getByRole("heading", { level: 1, name: "Verify a receipt" }).waitFor()
  assert.deepStrictEqual(await Accessibility.violations(page), [], "empty")

  await drop(page, "receipt.json", text)
  await Browser.eventually(() => verdict(page)).toBe("The receipt holds, with warnings.")
  assert.deepStrictEqual(await marks(page), [
    ...Array<string>(7).fill("Passed"),
    ...Array<string>(2).fill("Passed with a warning"),
  ])
  await page.getByText("hidden by whoever gave you the receipt").first().waitFor()
  await page.getByText("OK queued as 9F2").waitFor()
  assert.deepStrictEqual(await Accessibility.violations(page), [], "with warnings")

  // The keys are typed without a mouse; then everything is sure.
  await Browser.tabTo(page, "Keys that you trust")
  await page.keyboard.press("Enter")
  await page.keyboard.press("Tab")
  await page.keyboard.insertText(JSON.stringify({ origin, keys: keys.map(({ vkey }) => vkey), former_keys: [] }))
  await page.keyboard.press("Tab")
  await page.keyboard.insertText(witnesses.map(({ vkey }) => vkey).join("\n"))
  await page.keyboard.press("Tab")
  await Browser.eventually(() => verdict(page)).toBe("The receipt holds.")
  assert.deepStrictEqual(await marks(page), Array<string>(9).fill("Passed"))
  assert.deepStrictEqual(await Accessibility.violations(page), [], "holds")
  await page.setViewportSize({ width: PHONE_PX, height: 844 })
  assert.strictEqual(await page.evaluate("document.documentElement.scrollWidth"), PHONE_PX)
  await page.setViewportSize(Browser.DESKTOP)

  await page.getByLabel("Drop a receipt here, or choose its file").setInputFiles({
    name: "forged.json",
    mimeType: "application/json",
    buffer: Buffer.from(forged),
  })
  await Browser.eventually(() => verdict(page)).toBe("This receipt does not hold.")
  assert.strictEqual((await marks(page))[1], "Failed")
  assert.isTrue(await page.getByRole("heading", { name: "What it says" }).isHidden())
  assert.strictEqual(await page.locator("img").count(), 0)
  assert.deepStrictEqual(await Accessibility.violations(page), [], "does not hold")

  await drop(page, "photo.png", "\u0089PNG")
  await Browser.eventually(() => marks(page)).toEqual(["Failed", ...Array<string>(8).fill("Not checked")])
  await page.getByLabel("Keys of witnesses, one a line").fill("nonsense")
  await page.getByLabel("Keys of witnesses, one a line").blur()
  await Browser.eventually(() => verdict(page)).toMatch(/^The receipt could not be checked\. A key is not of the form/u)
}

/** Addresses that the page has asked for, other than its own. */
const watched = (context: BrowserContext): ReadonlyArray<string> => {
  const asked: Array<string> = []
  context.on("request", (request) => asked.push(request.url()))
  return asked
}

layer(HttpWorld.layer(), { excludeTestServices: true, timeout: "180 seconds" })(
  "the page that checks receipts",
  (it) => {
    it.effect(
      "works offline from its file, and from an instance, with the keyboard, in the dark and on a phone",
      ({ skip }: TestContext) =>
        Effect.gen(function* () {
          const world = yield* HttpWorld
          const opened = yield* Effect.promise(() => Browser.open())
          if (typeof opened === "string") return skip(opened)
          yield* Effect.promise(async () => {
            for (const url of [pathToFileURL(PAGE).href, "/verify"]) {
              const { consoleErrors, context, page } = await Browser.openTab(opened, world.url)
              const asked = watched(context)
              if (url !== "/verify") await context.setOffline(true)
              await usePage(page, url)
              assert.deepStrictEqual(consoleErrors, [])
              assert.lengthOf(asked, 1, "nothing but the page")
              await context.close()
            }
            await Browser.closeTabs()
          })
        }),
      180_000,
    )
  },
)
