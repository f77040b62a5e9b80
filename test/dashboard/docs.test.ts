import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as Browser from "./browser.ts"
import { Lab } from "../server/httpLab.ts"

layer(Lab.layer(), { excludeTestServices: true, timeout: "120 seconds" })("the documentation in a browser", (it) => {
  it.effect("shows the contract, calls the service, and breaks no rule of its policy", ({ skip }) =>
    Effect.gen(function* () {
      const lab = yield* Lab
      const opened = yield* Effect.promise(() => Browser.open())
      if (typeof opened === "string") return skip(opened)
      yield* Effect.promise(async () => {
        const { complaints, page } = await Browser.visit(opened, lab.url)
        await page.goto("/docs")
        await page.getByText("Send an email").first().waitFor()
        assert.deepStrictEqual(complaints, [])
        await page.goto("/docs#tag/domains/GET/v1/domains")
        const example = page.getByRole("button", { name: /test request.*\/v1\/domains\b/iu }).first()
        await example.click()
        const client = page.getByRole("dialog")
        await client.getByRole("button", { name: /^send get request/iu }).click()
        // The service has heard it, and asks for a key.
        await client.getByText("401", { exact: false }).first().waitFor()
        assert.deepStrictEqual(
          complaints.filter((said) => /content security policy/iu.test(said)),
          [],
        )
      }).pipe(Effect.ensuring(Effect.promise(() => opened.close())))
    }),
  )
})
