import type { TransportChoice } from "@waybill/domain/domain/DomainState"
import * as TestTransport from "@waybill/mail/transport/TestTransport"
import { Transport } from "@waybill/mail/transport/Transport"
import * as Sandbox from "@waybill/store/content/Sandbox"
import { Context, Effect, Layer } from "effect"

type Kind = Exclude<TransportChoice, null>

/** Transports of this instance: its default, and others that domains have chosen. */
export class Transports extends Context.Service<
  Transports,
  {
    readonly instance: Kind
    /** Delivers test mail, without a socket. */
    readonly test: Transport["Service"]
    /** Undefined if the operator has not configured the transport that a domain has chosen. */
    readonly choose: (choice: TransportChoice) => Transport["Service"] | undefined
  }
>()("@waybill/server/worker/delivery/Transports") {
  static readonly layer = <E, R>(instance: Kind, layers: { readonly [K in Kind]?: Layer.Layer<Transport, E, R> }) =>
    Layer.effect(
      Transports,
      Effect.gen(function* () {
        const built = new Map<string, Transport["Service"]>()
        for (const [kind, layer] of Object.entries(layers)) {
          built.set(kind, Context.get(yield* Layer.build(Layer.fresh(layer)), Transport))
        }
        const test = TestTransport.make(yield* Sandbox.recorder)
        return Transports.of({ instance, test, choose: (choice) => built.get(choice ?? instance) })
      }),
    )
}
