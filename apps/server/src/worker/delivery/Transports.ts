import type { TransportChoice } from "@waybill/domain/domain/Domain"
import { Transport } from "@waybill/mail/transport/Transport"
import { Context, Effect, Layer } from "effect"

type Kind = Exclude<TransportChoice, null>

/** The ways out: the instance's, and those that single domains have chosen instead. */
export class Transports extends Context.Service<
  Transports,
  {
    readonly instance: Kind
    /** Undefined where the operator has not set up what a domain asks for. */
    readonly choose: (choice: TransportChoice) => Transport["Service"] | undefined
  }
>()("@waybill/server/Transports") {
  static readonly layer = <E, R>(instance: Kind, layers: { readonly [K in Kind]?: Layer.Layer<Transport, E, R> }) =>
    Layer.effect(
      Transports,
      Effect.gen(function* () {
        const built = new Map<string, Transport["Service"]>()
        for (const [kind, layer] of Object.entries(layers)) {
          built.set(kind, Context.get(yield* Layer.build(Layer.fresh(layer)), Transport))
        }
        return Transports.of({ instance, choose: (choice) => built.get(choice ?? instance) })
      }),
    )
}
