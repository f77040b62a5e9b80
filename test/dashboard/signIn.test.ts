import { Effect } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { authenticator } from "../server/signIn/house.ts"
import * as Browser from "./Browser.ts"
import * as House from "./Service.ts"
import * as Provider from "./provider.ts"

const browser = await Browser.open()
const TIMEOUT = 120_000
const OURS = { "x-waybill-dashboard": "1" }

describe.skipIf(typeof browser === "string")(
  `signing in${typeof browser === "string" ? ` (skipped: ${browser})` : ""}`,
  () => {
    let provider: Provider.Provider
    let house: House.House
    let seen: Browser.Watched
    let backup = ""

    beforeAll(async () => {
      if (typeof browser === "string") return
      provider = await Provider.open({ sub: "1", email: "stranger@example.org", email_verified: true })
      house = await House.open({
        OIDC_ISSUER: provider.issuer,
        OIDC_CLIENT_ID: "waybill",
        OIDC_CLIENT_SECRET: "between us",
      })
      // A passkey belongs to a name, and on this machine that is localhost.
      seen = await Browser.visit(browser, house.url.replace("127.0.0.1", "localhost"))
    }, TIMEOUT)

    afterAll(async () => {
      if (typeof browser === "string") return
      await browser.close()
      await house.close()
      provider.close()
    }, TIMEOUT)

    const signOut = async () => {
      await seen.page.context().clearCookies()
      await seen.page.goto("/")
      await seen.page.getByRole("heading", { name: "Sign in to Waybill" }).waitFor()
    }
    const overview = () => seen.page.getByRole("heading", { level: 1, name: "Overview" }).waitFor()
    const own = async () => {
      await seen.page.goto("/settings/sign-in")
      await seen.page.getByRole("heading", { level: 1, name: "Your sign-in" }).waitFor()
    }

    it("says in words that a password is wrong", { timeout: TIMEOUT }, async () => {
      const { page } = seen
      await page.goto("/emails?status=bounced")
      await page.getByLabel("Email").fill(house.owner.email)
      await page.getByLabel("Password").fill("not the password")
      await page.keyboard.press("Enter")
      await page.getByText("Incorrect email or password.").waitFor()
      await page.getByLabel("Password").fill(house.owner.password)
      await page.keyboard.press("Enter")
      await page.getByRole("heading", { level: 1, name: "Emails" }).waitFor()
      // Whoever came for something is led on to it.
      assert.include(page.url(), "/emails?status=bounced")
    })

    it("takes a passkey, made here and used from then on", { timeout: TIMEOUT }, async () => {
      const { page } = seen
      const devtools = await page.context().newCDPSession(page)
      await devtools.send("WebAuthn.enable")
      const { authenticatorId } = await devtools.send("WebAuthn.addVirtualAuthenticator", {
        options: {
          protocol: "ctap2",
          transport: "internal",
          hasResidentKey: true,
          hasUserVerification: true,
          isUserVerified: true,
          automaticPresenceSimulation: true,
        },
      })
      await own()
      await page.getByLabel("Name of the device").fill("Laptop")
      await page.getByRole("button", { name: "Add a passkey" }).click()
      await page.getByRole("button", { name: "Remove Laptop" }).waitFor()
      const { credentials } = await devtools.send("WebAuthn.getCredentials", { authenticatorId })
      assert.deepInclude(credentials[0], { isResidentCredential: true, rpId: "localhost" })
      await signOut()
      await page.getByRole("button", { name: "Use a passkey" }).click()
      await overview()
      await own()
      await page.getByRole("button", { name: "Remove Laptop" }).click()
      await Browser.eventually(() => page.getByText("Laptop").count()).toBe(0)
    })

    it("asks for a code once an authenticator is set up", { timeout: TIMEOUT }, async () => {
      const { page } = seen
      await own()
      await page.getByRole("button", { name: "Set it up" }).click()
      await page.getByLabel("Your password").fill(house.owner.password)
      await page.keyboard.press("Enter")
      const uri = (await page.getByRole("link", { name: "open it there" }).getAttribute("href")) ?? ""
      const code = authenticator(uri)
      const codes = (await page.locator("[role=dialog] pre").textContent()) ?? ""
      backup = /\S+/u.exec(codes)?.[0] ?? ""
      await page.getByLabel("The code that it shows now").fill(await Effect.runPromise(code))
      await page.keyboard.press("Enter")
      await page.getByText("From now on a code is asked for.").waitFor()
      await signOut()
      await page.getByLabel("Email").fill(house.owner.email)
      await page.getByLabel("Password").fill(house.owner.password)
      await page.keyboard.press("Enter")
      await page.getByLabel("Code", { exact: true }).fill("000000")
      await page.getByText("Incorrect code, or one that was already used.").waitFor()
      assert.strictEqual((await page.request.get("/v1/session", { headers: OURS })).status(), 401)
      await page.getByLabel("Code", { exact: true }).fill(await Effect.runPromise(code))
      await overview()
      assert.strictEqual((await page.request.get("/v1/session", { headers: OURS })).status(), 200)
    })

    it("takes a backup code in place of it, and lets the authenticator be removed", { timeout: TIMEOUT }, async () => {
      const { page } = seen
      await signOut()
      await page.getByLabel("Email").fill(house.owner.email)
      await page.getByLabel("Password").fill(house.owner.password)
      await page.keyboard.press("Enter")
      await page.getByRole("button", { name: "Use a backup code" }).click()
      await page.getByLabel("Backup code").fill(backup)
      await page.keyboard.press("Enter")
      await overview()
      await own()
      await page.getByRole("button", { name: "Turn it off" }).click()
      await page.getByLabel("Your password").fill(house.owner.password)
      await page.keyboard.press("Enter")
      await page.getByText("The authenticator is off.").waitFor()
      assert.strictEqual(await page.getByRole("button", { name: "Set it up" }).count(), 1)
    })

    it("lets in whom the organisation's provider knows and somebody here invited", { timeout: TIMEOUT }, async () => {
      const { page } = seen
      // A provider sends back to the address that it was told of.
      await seen.page.context().clearCookies()
      await page.goto(`${house.url}/sign-in`)
      await page.getByRole("button", { name: "Use your organisation’s account" }).click()
      await page.getByText("this address has not been invited here yet").waitFor()
      // Whoever could write an owner's address into their own profile would be that owner.
      provider.person = { sub: "2", email: house.owner.email, email_verified: false }
      await page.getByRole("button", { name: "Use your organisation’s account" }).click()
      await page.getByText("Your provider has not verified this address.").waitFor()
      provider.person = { sub: "2", email: house.owner.email, email_verified: true }
      await page.getByRole("button", { name: "Use your organisation’s account" }).click()
      await overview()
      assert.strictEqual(provider.asked.at(-1)?.get("code_challenge_method"), "S256")
    })

    it("asks for the code after the provider too", { timeout: TIMEOUT }, async () => {
      const { page } = seen
      await page.goto(`${house.url}/settings/sign-in`)
      await page.getByRole("button", { name: "Set it up" }).click()
      await page.getByLabel("Your password").fill(house.owner.password)
      await page.keyboard.press("Enter")
      const uri = (await page.getByRole("link", { name: "open it there" }).getAttribute("href")) ?? ""
      const code = authenticator(uri)
      await page.getByLabel("The code that it shows now").fill(await Effect.runPromise(code))
      await page.keyboard.press("Enter")
      await page.getByText("From now on a code is asked for.").waitFor()
      await page.context().clearCookies()
      await page.goto(`${house.url}/sign-in?next=${encodeURIComponent("/domains")}`)
      await page.getByRole("button", { name: "Use your organisation’s account" }).click()
      await page.getByRole("heading", { name: "One more step" }).waitFor()
      assert.strictEqual((await page.request.get("/v1/session", { headers: OURS })).status(), 401)
      await page.getByLabel("Code", { exact: true }).fill(await Effect.runPromise(code))
      await page.getByRole("heading", { level: 1, name: "Domains" }).waitFor()
    })

    it("offers no link for who signs in already", { timeout: TIMEOUT }, async () => {
      const { page } = seen
      await page.goto(`${house.url}/settings/members`)
      await page.getByRole("button", { name: `More for ${house.owner.email}` }).click()
      await page.getByRole("menuitem", { name: "Remove" }).waitFor()
      assert.strictEqual(await page.getByRole("menuitem").count(), 1)
    })

    it("has made nothing in the console complain, but of what was refused", () => {
      assert.deepEqual(
        seen.complaints.filter((each) => !each.includes("status of 401")),
        [],
      )
    })
  },
)
