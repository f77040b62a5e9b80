import { Effect } from "effect"
import { afterAll, assert, beforeAll, it } from "vitest"
import { authenticator } from "../server/signIn/house.ts"
import * as Browser from "./support/Browser.ts"
import { inBrowser } from "./support/inBrowser.ts"
import { TIMEOUT } from "./support/inDashboard.ts"
import * as Instance from "./support/Instance.ts"
import * as Provider from "./support/provider.ts"

const DASHBOARD_HEADERS = { "x-waybill-dashboard": "1" }

await inBrowser("sign-in", (browser) => {
  let provider: Provider.Provider
  let instance: Instance.Instance
  let tab: Browser.BrowserTab
  let backup = ""

  beforeAll(async () => {
    provider = await Provider.open({ sub: "1", email: "stranger@example.org", email_verified: true })
    instance = await Instance.start({
      OIDC_ISSUER: provider.issuer,
      OIDC_CLIENT_ID: "waybill",
      OIDC_CLIENT_SECRET: "between us",
    })
    // Passkeys need a domain name; localhost counts as one.
    tab = await Browser.openTab(browser, instance.url.replace("127.0.0.1", "localhost"))
  }, TIMEOUT)

  afterAll(async () => {
    await instance.close()
    provider.close()
  }, TIMEOUT)

  const signOut = async () => {
    await tab.page.context().clearCookies()
    await tab.page.goto("/")
    await tab.page.getByRole("heading", { name: "Sign in to Waybill" }).waitFor()
  }
  const waitForOverview = () => tab.page.getByRole("heading", { level: 1, name: "Overview" }).waitFor()
  const openProfile = async () => {
    await tab.page.goto("/settings/sign-in")
    await tab.page.getByRole("heading", { level: 1, name: "Profile" }).waitFor()
  }

  it("shows an error for a wrong password, then opens the requested screen", { timeout: TIMEOUT }, async () => {
    const { page } = tab
    await page.goto("/emails?status=bounced")
    const command = page.getByText("npx waybill users password owner@acme.test")
    const widths = await command.evaluate((node: { readonly scrollWidth: number; readonly clientWidth: number }) => [
      node.scrollWidth,
      node.clientWidth,
    ])
    assert.isAtMost(widths[0] ?? 0, widths[1] ?? 0, "the command is cut")
    await page.getByRole("button", { name: "Copy command" }).waitFor()
    await page.getByLabel("Email").fill(instance.owner.email)
    await page.getByLabel("Password").fill("not the password")
    await page.keyboard.press("Enter")
    await page.getByText("Incorrect email or password.").waitFor()
    assert.strictEqual(await page.getByText("Details", { exact: true }).count(), 0)
    await page.getByLabel("Password").fill(instance.owner.password)
    await page.keyboard.press("Enter")
    await page.getByRole("heading", { level: 1, name: "Emails" }).waitFor()
    // The screen that was requested before the sign-in opens.
    assert.include(page.url(), "/emails?status=bounced")
  })

  it("adds a passkey, signs in with it and removes it", { timeout: TIMEOUT }, async () => {
    const { page } = tab
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
    await openProfile()
    await page.getByLabel("Device name").fill("Laptop")
    await page.getByRole("button", { name: "Add passkey" }).click()
    await page.getByRole("button", { name: "Remove Laptop" }).waitFor()
    const { credentials } = await devtools.send("WebAuthn.getCredentials", { authenticatorId })
    assert.deepInclude(credentials[0], { isResidentCredential: true, rpId: "localhost" })
    await signOut()
    await page.getByRole("button", { name: "Sign in with a passkey" }).click()
    await waitForOverview()
    await openProfile()
    await page.getByRole("button", { name: "Remove Laptop" }).click()
    await Browser.eventually(() => page.getByText("Laptop").count()).toBe(0)
  })

  it("requires a code after an authenticator app is set up", { timeout: TIMEOUT }, async () => {
    const { page } = tab
    await openProfile()
    await page.getByRole("button", { name: "Set up", exact: true }).click()
    await page.getByRole("dialog").getByLabel("Current password").fill(instance.owner.password)
    await page.keyboard.press("Enter")
    const uri = (await page.getByRole("link", { name: "open the app" }).getAttribute("href")) ?? ""
    const code = authenticator(uri)
    const codes = (await page.locator("[role=dialog] pre").textContent()) ?? ""
    backup = /\S+/u.exec(codes)?.[0] ?? ""
    await page.getByLabel("Code from the app").fill(await Effect.runPromise(code))
    await page.keyboard.press("Enter")
    await page.getByText("Authenticator app turned on.").waitFor()
    await signOut()
    await page.getByLabel("Email").fill(instance.owner.email)
    await page.getByLabel("Password").fill(instance.owner.password)
    await page.keyboard.press("Enter")
    await page.getByLabel("Code", { exact: true }).fill("000000")
    await page.getByText("Incorrect code, or one that was already used.").waitFor()
    assert.strictEqual((await page.request.get("/v1/session", { headers: DASHBOARD_HEADERS })).status(), 401)
    await page.getByLabel("Code", { exact: true }).fill(await Effect.runPromise(code))
    await waitForOverview()
    assert.strictEqual((await page.request.get("/v1/session", { headers: DASHBOARD_HEADERS })).status(), 200)
  })

  it("signs in with a backup code and turns the authenticator app off", { timeout: TIMEOUT }, async () => {
    const { page } = tab
    await signOut()
    await page.getByLabel("Email").fill(instance.owner.email)
    await page.getByLabel("Password").fill(instance.owner.password)
    await page.keyboard.press("Enter")
    await page.getByRole("button", { name: "Use a backup code" }).click()
    await page.getByLabel("Backup code").fill(backup)
    await page.keyboard.press("Enter")
    await waitForOverview()
    await openProfile()
    await page.getByRole("button", { name: "Turn off" }).click()
    await page.getByRole("dialog").getByLabel("Current password").fill(instance.owner.password)
    await page.keyboard.press("Enter")
    await page.getByText("Authenticator app turned off.").waitFor()
    await Browser.eventually(() => page.getByRole("button", { name: "Set up", exact: true }).count()).toBe(1)
  })

  it("signs in with SSO only a verified address that has an invitation", { timeout: TIMEOUT }, async () => {
    const { page } = tab
    // The provider redirects to the configured URL of the service.
    await tab.page.context().clearCookies()
    await page.goto(`${instance.url}/sign-in`)
    await page.getByRole("button", { name: "Sign in with SSO" }).click()
    await page.getByText("your address has no invitation here").waitFor()
    // An unverified address would let anyone claim the address of an owner.
    provider.person = { sub: "2", email: instance.owner.email, email_verified: false }
    await page.getByRole("button", { name: "Sign in with SSO" }).click()
    await page.getByText("Your provider has not verified your email address.").waitFor()
    provider.person = { sub: "2", email: instance.owner.email, email_verified: true }
    await page.getByRole("button", { name: "Sign in with SSO" }).click()
    await waitForOverview()
    assert.strictEqual(provider.authorizationRequests.at(-1)?.get("code_challenge_method"), "S256")
  })

  it("requires the code after SSO too", { timeout: TIMEOUT }, async () => {
    const { page } = tab
    await page.goto(`${instance.url}/settings/sign-in`)
    await page.getByRole("button", { name: "Set up", exact: true }).click()
    await page.getByRole("dialog").getByLabel("Current password").fill(instance.owner.password)
    await page.keyboard.press("Enter")
    const uri = (await page.getByRole("link", { name: "open the app" }).getAttribute("href")) ?? ""
    const code = authenticator(uri)
    await page.getByLabel("Code from the app").fill(await Effect.runPromise(code))
    await page.keyboard.press("Enter")
    await page.getByText("Authenticator app turned on.").waitFor()
    await page.context().clearCookies()
    await page.goto(`${instance.url}/sign-in?next=${encodeURIComponent("/domains")}`)
    await page.getByRole("button", { name: "Sign in with SSO" }).click()
    await page.getByRole("heading", { name: "Two-factor authentication" }).waitFor()
    assert.strictEqual((await page.request.get("/v1/session", { headers: DASHBOARD_HEADERS })).status(), 401)
    await page.getByLabel("Code", { exact: true }).fill(await Effect.runPromise(code))
    await page.getByRole("heading", { level: 1, name: "Domains" }).waitFor()
  })

  it("offers no reset link for a member who has signed in", { timeout: TIMEOUT }, async () => {
    const { page } = tab
    await page.goto(`${instance.url}/settings/members`)
    await page.getByRole("button", { name: `Actions for ${instance.owner.email}` }).click()
    await page.getByRole("menuitem", { name: "Remove member" }).waitFor()
    await Browser.eventually(() => page.getByRole("menuitem").count()).toBe(1)
  })

  it("logs no console errors except for refused requests", () => {
    assert.deepEqual(
      tab.consoleErrors.filter((each) => !each.includes("status of 401")),
      [],
    )
  })
})
