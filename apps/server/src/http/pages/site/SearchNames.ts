/** Addresses, each with names that people type for it and that its title does not have. */
const WRITTEN = `
/docs/api
  api reference, api, rest api, http api, authentication, bearer token, cors, api docs, endpoints
/docs/api-keys
  lost api key, service account
/docs/api-keys#choose-scopes
  api key scopes, permissions, api key permissions, read only key, readonly key
/docs/api-keys#limit-a-key
  ip allowlist, allowlist, whitelist, restrict key to ip, restrict api key, ip whitelist
/docs/api-keys#rotate-a-key
  api key leaked, revoke key
/docs/api/account
  account
/docs/api/domains
  domains
/docs/api/emails
  emails
/docs/api/emails#emails-send
  reply-to, cc and bcc, custom headers, metadata, tags, from name, display name, sender name, reply to, headers,
  priority
/docs/api/emails#emails-sendbatch
  batch send, bulk email, many emails at once, send 100 emails, batch, bulk, batch emails, mass mail, mail
  merge, personalization
/docs/benchmarks
  how many emails per second, emails per second, how fast is it, throughput
/docs/clients/typescript
  @waybill/client
/docs/clients/typescript#send-an-email
  node example, nodejs, javascript example
/docs/coming-from
  migrate from resend, migrate from sendgrid, migrate from postmark, migrate
/docs/coming-from#check-what-waybill-does-not-have
  newsletters, send newsletters, marketing emails, marketing, newsletter, contacts, contact list, mailing list,
  audiences, segments, campaigns, billing, invoices, mobile app
/docs/command-line
  cli install, install cli, cli
/docs/command-line#count-emails
  statistics, stats, analytics, bounce rate, open rate, complaint rate, delivery rate
/docs/command-line#receive-webhooks-on-your-machine
  local development webhook, test webhooks locally, webhook localhost, ngrok
/docs/command-line#search-emails
  filter by tag, search emails, find email, search logs, email logs, email history, message id, get email
  status, see bounces, list bounces, bounced emails
/docs/configuration
  environment variables, env vars, settings
/docs/configuration#database-and-data
  external postgres, database_url
/docs/errors
  422, http status codes, error codes, 409, 400, 404
/docs/errors/all_recipients_suppressed
  recipient suppressed
/docs/errors/domain_not_verified
  from address not allowed, sender domain not verified, sender not verified
/docs/errors/payload_too_large
  413
/docs/errors/request_rate
  429, too many requests
/docs/events
  list of events, event types, webhook events
/docs/events/email.delivery_delayed
  email.deferred, deferred event
/docs/events/email.bounced
  bounce event, bounce webhook
/docs/inbound
  receive email, inbound email, incoming email, parse email, parse incoming email
/docs/inbound#forward
  forwarding, forward email
/docs/inbound#replies
  threads, reply tracking
/docs/inbound#route-mail
  catch all, catch-all, catchall
/docs/limits
  attachment size limit, maximum attachment size, message size limit, max recipients, maximum number of
  recipients, limits, rate limits, api rate limits, quota, monthly limit, usage limits, throttling
/docs/mcp
  ai agent, chatgpt, cursor
/docs/operating/backup
  restore backup, backup restore, pg_dump, move to another server
/docs/operating/command-line#serve-several-accounts
  delete account, multi tenant, subaccounts, subaccount, customer, customers, tenants, workspaces, organizations
/docs/operating/command-line#stop-the-service
  graceful shutdown, stop the queue, stop the service
/docs/operating/command-line#waybill-accounts-createlistplan
  plans, change plan, upgrade plan
/docs/operating/failover
  disaster recovery
/docs/operating/first-mail
  go live
/docs/operating/first-mail#choose-how-mail-leaves
  switch from sandbox to production
/docs/operating/first-mail#publish-the-name-of-the-instance
  behind nginx, nginx, reverse proxy, https, lets encrypt, tls certificate, ssl, certificate
/docs/operating/first-mail#set-up-dkim-spf-and-dmarc
  add a second domain, dkim, dns records, verify domain, domain verification, spf, dns setup, gmail, yahoo,
  outlook, custom domain, own domain, sending domain, verify sender, sender identity, domain pending,
  verification pending, dns propagation, cloudflare, godaddy, office 365, hotmail
/docs/operating/incidents#an-account-sends-harmful-links
  phishing
/docs/operating/keys
  lost master key, encryption key, encryption at rest
/docs/operating/monitoring#collect-metrics
  alerts, alerting, datadog, prometheus, slack notification
/docs/operating/monitoring#read-the-logs
  logs, server logs
/docs/operating/replay
  replay events, replay
/docs/operating/retention
  how long are logs kept, delete email
/docs/operating/retention#erase-a-person
  delete customer data
/docs/operating/source-addresses#checks
  blacklist, blacklists, ip blacklist
/docs/operating/source-addresses#warm-an-address-up
  dedicated ip warmup
/docs/operating/source-addresses#when-a-provider-blocks-an-address
  blacklisted, ip blocked, blocked by gmail, blocked by outlook
/docs/operating/transports#check-the-mail-servers-of-recipients
  require tls, enforced tls
/docs/operating/upgrade
  upgrade, upgrade version, update waybill, new version, changelog, release notes
/docs/operating/upgrade#upgrade-node-by-node
  zero downtime deploy, rolling upgrade
/docs/operating/upgrade#what-two-releases-guarantee
  api version, versioning, breaking changes, deprecated, deprecation
/docs/receipts
  transparency log
/docs/scaling#add-processes
  multiple workers
/docs/scaling#choose-a-size
  memory usage, server size, how much memory
/docs/scaling#grow-past-one-postgres
  sharding
/docs/scaling#estimate-the-cost-of-a-message
  cost, price, pricing
/docs/sending#repeat-a-request-safely-idempotency
  timeout, request timeout, duplicate emails, sent twice, duplicates, prevent duplicates
/docs/sending#schedule-an-email
  recall email, unsend, edit scheduled, cancel email, cron, recurring, update email
/docs/sending#send-an-email
  send email, hello world, example
/docs/sending#stop-all-sending
  pause sending, stop sending, stop all sending, kill switch, emergency stop
/docs/sending#stop-sending-to-an-address-suppressions
  remove suppression, unsuppress, suppression list, blocklist address, stop all mail to a customer, stop all
  mail to a person, block recipient, block an address, do not send, unblock, reactivate address, resubscribe
/docs/sending#when-an-email-was-not-delivered
  bounce types, hard bounce, soft bounce, how many retries, email retry schedule, 550, 550 5.1.1, 5.1.1, smtp
  code, bounce reason, emails not arriving, email in spam, spam folder, deliverability, bounce codes, delivery
  status, greylisting, email delayed, emails delayed, delayed, deferred, dropped, not received, email not
  received, unknown user, user unknown, 552, 451
/docs/smtp
  smtp credentials, smtp password, send with smtp, smtp relay, wordpress, n8n, smtp host, smtp server, port 587
/docs/smtp#begin-with-tls
  starttls, port 465
/docs/smtp#log-in
  tls required, smtp auth
/docs/smtp#receive-complaints-by-feedback-loops
  feedback loop, fbl
/docs/start#check-the-requirements
  requirements, system requirements, windows, macos, mac, wsl, arm, raspberry pi, node version
/docs/start#choose-a-client
  openapi, openapi.json, swagger, sdk, postman, java, c#, .net, rust, client libraries
/docs/start#find-your-way-around
  dark mode, theme, csv export, export csv, export emails, export logs, download csv, dashboard, uninstall,
  start over, reset database
/docs/start#manage-sign-in
  forgot password, reset password, sso, single sign-on, oidc, oauth google, login with google, saml, invite
  teammate, invite user, change password, delete user, remove user, session timeout, sign up, signup, login
  problem
/docs/start#see-who-changed-what-audit-log
  who changed a setting, audit trail
/docs/start#solve-problems-at-the-start
  connection refused, port in use, eaddrinuse, does not start, troubleshooting
/docs/templates#send-by-it
  language, languages, locale, multilingual, translations, localization, i18n
/docs/templates#write-it
  liquid, conditional, if else, preview text, preheader
/docs/test-clocks
  time travel
/docs/test-mode
  sandbox, sandbox mode, staging, test email, test mode
/docs/test-mode#choose-the-outcome-by-the-recipient
  simulate bounce, sandbox address, test address, bounce test, demo data, sample data, test data, fake data,
  seed data, dummy data
/docs/testing
  mailhog, mailpit, mailtrap, mailcatcher, fake smtp, ci, github actions, integration tests
/docs/tracking
  disable tracking
/docs/tracking#use-links-below-your-own-domain
  link branding, branded links
/docs/tracking#what-an-open-means
  opened, email read, read receipts, who opened my email
/docs/unsubscribe
  unsubscribe link
/docs/webhooks#read-events-instead-of-receiving-calls
  events api, polling, sse, real time, event stream, poll events
/docs/webhooks#repeat-calls
  dead letter, dead letter queue, dlq, replay webhook, failed webhooks
/docs/webhooks#verify-a-call
  webhook signature, verify webhook, signature verification
/docs/webhooks#what-is-sent
  webhook payload, webhook order, webhook body
/docs/webhooks#when-a-call-succeeds-fails-or-is-repeated
  webhook retries, webhook retry schedule, webhook timeout, webhook not working, webhook not received, webhooks
  not arriving, webhook failing
`

/** Names that people type for places whose titles say it in other words. A place is found by them as by its title. */
export const NAMES: Readonly<Record<string, ReadonlyArray<string>>> = Object.fromEntries(
  WRITTEN.trim()
    .split(/\n(?=\/)/u)
    .map((place) => {
      const [address = "", ...names] = place.split("\n")
      return [address, names.join(" ").trim().split(/,\s+/u)]
    }),
)
