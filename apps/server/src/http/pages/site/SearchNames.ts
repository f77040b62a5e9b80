/** Names that people type for places whose titles say it in other words. A place is found by them as by its title. */
export const NAMES: Readonly<Record<string, ReadonlyArray<string>>> = {
  "/docs/clients/typescript": ["@waybill/client"],
  "/docs/command-line#receive-webhooks-on-your-machine": [
    "local development webhook",
    "test webhooks locally",
    "webhook localhost",
    "ngrok",
  ],
  "/docs/errors": ["422", "http status codes"],
  "/docs/operating/command-line#serve-several-accounts": ["delete account", "multi tenant"],
  "/docs/operating/first-mail#set-up-dkim-spf-and-dmarc": ["add a second domain", "dkim", "dns records"],
  "/docs/operating/retention": ["how long are logs kept"],
  "/docs/operating/source-addresses#warm-an-address-up": ["dedicated ip warmup"],
  "/docs/scaling#estimate-the-cost-of-a-message": ["cost", "price", "pricing"],
  "/docs/sending#when-an-email-was-not-delivered": ["bounce types", "hard bounce", "soft bounce"],
  "/docs/start#manage-sign-in": ["sso", "single sign-on", "oidc", "oauth google", "login with google", "saml"],
  "/docs/start#see-who-changed-what-audit-log": ["who changed a setting", "audit trail"],
  "/docs/unsubscribe": ["unsubscribe link"],
}
