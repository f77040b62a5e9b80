import * as Account from "../account/Account.ts"
import * as ApiKey from "../account/ApiKey.ts"
import * as Domain from "../domain/Domain.ts"
import * as Email from "../email/Email.ts"
import * as Inbound from "../inbound/Inbound.ts"
import * as InboundRoute from "../inbound/Route.ts"
import * as Suppression from "../suppression/Suppression.ts"
import * as Team from "../account/Team.ts"
import * as Template from "../template/Template.ts"
import * as TestClock from "../clock/TestClock.ts"
import * as Webhook from "../webhook/Webhook.ts"

/** All deciders, by kind of stream. */
export const aggregates = {
  account: Account,
  api_key: ApiKey,
  domain: Domain,
  email: Email,
  inbound: Inbound,
  inbound_route: InboundRoute,
  suppression: Suppression,
  team: Team,
  template: Template,
  test_clock: TestClock,
  webhook: Webhook,
} as const
export type StreamKind = keyof typeof aggregates

const KINDS: ReadonlyMap<string, StreamKind> = new Map(
  Object.values(aggregates).flatMap(({ stream, Event }) =>
    Object.keys(Event.cases).map((tag) => [tag, stream] as const),
  ),
)

/** Returns the kind of stream that an event type belongs to, or `undefined` for a type of a newer release. */
export const streamOf = (type: string): StreamKind | undefined => KINDS.get(type)
