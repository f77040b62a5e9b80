import { assert, it } from "../../support/effectTest.ts"
import { paths, read } from "../source.ts"

/** Another service for mail. To resend is also a word of our own. */
const NAMES = /sendgrid|postmark|mailgun|mandrill|sparkpost|brevo|mailjet|resend\.com|resend's|\b(?:at|of) Resend\b/iu

/** Folders whose work is to translate from or to other services. */
const FOLDERS: ReadonlyArray<string> = [
  "apps/server/src/cli/remote/templates/",
  "apps/server/src/compat/",
  "apps/server/src/providers/",
  "apps/server/src/webhookFormats/",
  "packages/templates/src/translate/",
]

/** Other files that name one. This list may only shrink: what a door needs has a name of our own, which the door maps to. */
const FILES: ReadonlyArray<string> = [
  // An example of a header.
  "apps/server/src/cli/commands/accounts.ts",
  // Providers that report events.
  "apps/server/src/cli/providers.ts",
  // Advice to who calls by a key or a path of another service.
  "apps/server/src/http/middleware/ForeignKeys.ts",
  // The page for who comes from another service.
  "apps/server/src/http/pages/site/SearchNames.ts",
  "apps/server/src/http/pages/site/SitePages.ts",
  "apps/server/src/requests/KnownRoutes.ts",
  // The names of doors.
  "apps/server/src/settings/CompatHosts.ts",
  // Headers of other services in submitted mail.
  "apps/server/src/smtp/submitted/ControlHeaders.ts",
  "apps/server/src/smtp/submitted/SteeringInstructions.ts",
  // Formats of webhooks.
  "apps/server/src/worker/webhooks/EventSignature.ts",
  "apps/server/src/worker/webhooks/InboundBody.ts",
  "apps/server/src/worker/webhooks/WebhookPayload.ts",
  "packages/api/src/groups/Webhooks.ts",
  // Headers that steer providers.
  "packages/api/src/schemas/MessageHeaders.ts",
  // A name of metadata that stored mail has.
  "packages/domain/src/account/SendBatch.ts",
  "packages/domain/src/account/SteeringHeader.ts",
  "packages/domain/src/webhook/WebhookFormat.ts",
  // Received mail in formats of webhooks.
  "packages/mail/src/inbound/postmarkBody.ts",
  "packages/mail/src/inbound/postmarkHeaders.ts",
  "packages/mail/src/inbound/sendGridForm.ts",
  "packages/mail/src/parsing/Jobs.ts",
  "packages/mail/src/parsing/isSmall.ts",
  // The header in which a provider returns metadata.
  "packages/mail/src/provider/ProviderMetadata.ts",
  "packages/mail/src/reading/InboundMail.ts",
]

it("only folders that translate name other services for mail", () => {
  const core = /^(?:apps\/server|packages\/(?:api|domain|mail|runtime|store|templates|verify))\/src\/.*\.ts$/u
  const others = paths.filter((path) => core.test(path) && !FOLDERS.some((folder) => path.startsWith(folder)))
  assert.deepStrictEqual(
    others.filter((path) => NAMES.test(read(path).text)),
    FILES,
  )
})
