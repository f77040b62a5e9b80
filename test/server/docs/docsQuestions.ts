/** Questions of people who look something up, each with the part of an address that answers it. */
export const QUESTIONS: ReadonlyArray<readonly [question: string, answer: RegExp]> = [
  // Endpoints
  ["send an email", /\/docs\/api#emails-send$/u],
  ["cancel an email", /\/docs\/api#emails-cancel$/u],
  ["list webhooks endpoint", /\/docs\/api#webhooks-list$/u],
  ["rotate dkim key", /\/docs\/api#domains-rotatedkim$/u],
  ["create an api key", /\/docs\/(?:api#apikeys-create|api-keys)/u],
  ["revoke api key", /\/docs\/(?:api#apikeys-revoke|api-keys)/u],
  // Error reasons
  ["domain_not_verified", /\/docs\/errors\/domain_not_verified$/u],
  ["idempotency_key_reused", /\/docs\/errors\/idempotency_key_reused$/u],
  ["422 all recipients suppressed", /\/docs\/errors\/all_recipients_suppressed$/u],
  ["error too many requests rate", /\/docs\/errors\/request_rate$/u],
  ["api key invalid", /\/docs\/errors\/api_key_invalid$/u],
  // Events
  ["email.bounced", /\/docs\/events\/email\.bounced$/u],
  ["email.complained payload", /\/docs\/events\/email\.complained$/u],
  ["domain degraded event", /\/docs\/events\/domain\.degraded$/u],
  // Settings
  ["BACKUP_TO", /\/docs\/(?:configuration|operating\/backup)#backup_to$/u],
  ["TRACKING_DOMAINS", /\/docs\/configuration#tracking_domains$/u],
  ["DATABASE_URL setting", /\/docs\/configuration#database_url$/u],
  ["MAX_BODY_BYTES", /\/docs\/configuration#max_body_bytes$/u],
  // Commands
  ["waybill doctor", /\/docs\/operating\/command-line#/u],
  ["waybill templates push", /\/docs\/(?:command-line#waybill-templates|templates)/u],
  ["waybill listen", /\/docs\/command-line#/u],
  ["command to reset a user's password", /\/docs\/operating\/command-line#/u],
  // Tasks
  ["how do I restore a backup", /\/docs\/operating\/backup/u],
  ["verify webhook signature", /\/docs\/(?:webhooks#verify-a-call|clients\/\w+#verify-webhooks)$/u],
  ["receive email reply", /\/docs\/inbound/u],
  ["install on kubernetes", /\/docs\/operating\/kubernetes/u],
  ["migrate from SendGrid", /\/docs\/coming-from/u],
  ["python client", /\/docs\/clients\/python/u],
  ["unsubscribe link", /\/docs\/unsubscribe/u],
  [
    "what does a domain need in DNS SPF DKIM",
    /\/docs\/(?:start|operating|api|coming-from|domain-reports|smtp|concepts)/u,
  ],
  ["send mail from django", /\/docs\/quickstarts\/django/u],
  ["next.js", /\/docs\/quickstarts\/nextjs/u],
  ["keycloak smtp", /\/docs\/quickstarts\/keycloak/u],
  ["route 53 dkim record", /\/docs\/operating\/first-mail/u],
  ["how much disk does a mail need", /\/docs\/(?:scaling|operating\/first-hours)/u],
  ["upgrade without downtime", /\/docs\/operating\/upgrade/u],
  ["test suite clock advance time", /\/docs\/(?:test-clocks|testing|clients\/testing|api#testclocks)/u],
]
