import * as SandboxTransport from "@waybill/mail/transport/SandboxTransport"
import * as DirectTransport from "@waybill/mail/transport/DirectTransport"
import * as Dane from "@waybill/mail/dane/Dane"
import * as MtaStsFetch from "@waybill/mail/dns/MtaStsFetch"
import * as NodemailerTransport from "@waybill/mail/transport/NodemailerTransport"
import * as SiteRules from "@waybill/mail/site/SiteRules"
import * as RelayTransport from "@waybill/mail/transport/RelayTransport"
import * as EveryDatabase from "@waybill/store/routing/EveryDatabase"
import * as MtaStsPolicies from "@waybill/store/sources/MtaStsPolicies"
import * as LogKeys from "@waybill/store/transparency/LogKeys"
import * as Sandbox from "@waybill/store/content/Sandbox"
import { Effect, Layer, Option, type Redacted } from "effect"
import * as ReturnPathKeys from "../../installation/ReturnPathKeys.ts"
import { Instance } from "../../settings/Instance.ts"
import * as MailSettings from "../../settings/MailSettings.ts"
import { reveal, type Settings, urlOf } from "../../settings/Settings.ts"
import * as AttachmentLinks from "../../links/AttachmentLinks.ts"
import * as StoppedLinks from "../../links/StoppedLinks.ts"
import { advanceTestClocks } from "../../worker/periodic/advanceTestClocks.ts"
import { askWitnesses } from "../../worker/periodic/askWitnesses.ts"
import { checkDomains } from "../../worker/periodic/checkDomains.ts"
import * as WebhookPipeline from "../../worker/webhooks/WebhookPipeline.ts"
import * as Followers from "../../worker/periodic/Followers.ts"
import { followLogTree } from "../../worker/periodic/followLogTree.ts"
import { makeBackups } from "../../worker/periodic/makeBackups.ts"
import type { AttemptOptions } from "../../worker/delivery/attemptDelivery.ts"
import { feedbackHeaders } from "../../worker/delivery/feedbackHeaders.ts"
import { Transports } from "../../worker/delivery/Transports.ts"
import * as Tasks from "./Tasks.ts"
import * as Worker from "./Worker.ts"
import * as ReturningMail from "../../links/ReturningMail.ts"
import * as InboundSettings from "../../settings/InboundSettings.ts"
import * as TrackedLinks from "../../links/TrackedLinks.ts"
import * as UnsubscribeLinks from "../../links/UnsubscribeLinks.ts"
import * as HandedOver from "../../providers/HandedOver.ts"
import { addFromSetting } from "../../sources/addFromSetting.ts"
import { readSiteRules } from "../../sources/readSiteRules.ts"
import * as SourceChoices from "../../sources/SourceChoices.ts"
import * as Service from "./Service.ts"

/** The transports that the settings allow, and the one that they choose. */
const transports = (settings: Settings) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const capture = SandboxTransport.layer(yield* Sandbox.recorder)
      const smtpUrl = reveal(settings.smtpUrl)
      const relay = smtpUrl === undefined ? undefined : yield* Effect.fromResult(RelayTransport.parse(smtpUrl))
      const module = Option.getOrUndefined(settings.nodemailerTransport)
      const options = MailSettings.nodemailerOptions(reveal(settings.nodemailerOptions))
      const name = Service.ehloName(settings)
      yield* addFromSetting(settings.sourceAddresses)
      const sources = yield* SourceChoices.make({ name })
      const dane = Dane.at(Option.getOrUndefined(settings.daneResolver))
      const direct = DirectTransport.layer({ name, sources, ...dane }).pipe(
        Layer.provide(MtaStsFetch.layer(yield* MtaStsPolicies.policyStore)),
        Layer.provide(Service.dns(settings)),
      )
      return Transports.layer(settings.transport, {
        capture,
        direct,
        ...(module === undefined ? {} : { nodemailer: NodemailerTransport.layer({ module, options }) }),
        ...(relay === undefined ? {} : { relay: RelayTransport.layer(relay, { name }) }),
      })
    }),
  )

/** All background work. */
export const worker = (settings: Settings, url: Redacted.Redacted, scripts?: AttemptOptions["scripts"]) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const allowedNetworks = Service.networks(settings.webhookAllowNetworks)
      const [unsubscribeKey = new Uint8Array()] = yield* UnsubscribeLinks.unsubscribeKeys
      const [secretKey = new Uint8Array()] = yield* TrackedLinks.trackingKeys
      const returnPathKey = yield* ReturnPathKeys.returnPathKey
      return Worker.layer({
        url,
        delivery: {
          returnPath: { secretKey: returnPathKey, domain: settings.returnPathDomain },
          feedbackHeaders: feedbackHeaders(returnPathKey),
          scripts,
          ...(yield* ReturningMail.of(Service.ehloName(settings), InboundSettings.domainOf(settings))),
          unsubscribeUrl: UnsubscribeLinks.unsubscribeUrl(urlOf(settings), unsubscribeKey),
          track: TrackedLinks.trackingOf({
            ...Service.linkSettings(settings),
            secretKey,
            stopped: yield* StoppedLinks.StoppedLinks,
          }),
        },
        tasks: Effect.gen(function* () {
          const webhooks = yield* WebhookPipeline.make({
            allowedNetworks,
            records: yield* Instance,
            links: yield* AttachmentLinks.linksAt(urlOf(settings)),
          })
          const domains = yield* checkDomains()
          const clocks = yield* advanceTestClocks()
          const signers = yield* LogKeys.makeSigners
          yield* EveryDatabase.start(
            Effect.all(
              [
                Followers.followStats(),
                Followers.followEmailWords(),
                followLogTree(urlOf(settings), signers),
                askWitnesses(settings.witnesses, Service.networks(settings.witnessAllowNetworks)),
              ],
              { discard: true },
            ),
          )
          const { backupEvery: every, backupKeep: keep, backupTo } = settings
          if (Option.isSome(backupTo))
            yield* Effect.forkScoped(makeBackups({ url, folder: backupTo.value, every, keep }))
          return {
            drain_webhooks: webhooks,
            advance_test_clocks: clocks,
            check_domains: domains,
            ...(yield* Tasks.make(settings)),
          }
        }),
      })
    }),
  ).pipe(
    Layer.provide([
      transports(settings),
      Service.dns(settings),
      Service.instance(settings),
      StoppedLinks.layer,
      HandedOver.layer(),
    ]),
    Layer.provide(Layer.effect(SiteRules.CurrentRules, readSiteRules(settings.siteRules))),
  )
