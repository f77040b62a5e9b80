import * as InstanceKeys from "@waybill/store/secrets/InstanceKey"
import * as SealedAddresses from "@waybill/store/secrets/SealedAddresses"
import { CellKeys } from "@waybill/store/routing/CellKeys"
import { Context, Effect, Layer, Option } from "effect"
import { join } from "node:path"
import type { Settings } from "../settings/Settings.ts"

const source = ({ data, instanceKey }: Settings) => ({ file: join(data, "instance.key"), text: instanceKey })

/** The key that encrypts this installation's secrets: from the settings, or from the data folder. */
export const instanceKey = (settings: Settings) => InstanceKeys.InstanceKey.layer(source(settings))

/** The existing key, or none if nothing has been encrypted here yet. */
export const instanceKeyHere = (settings: Settings) => InstanceKeys.find(source(settings))

/**
 * The addresses of cells, for commands: they can be read if this machine has the key. A key that cannot be used is an error
 * only for a command that needs one.
 */
export const cellKeysHere = (settings: Settings) =>
  Layer.effectContext(
    Effect.map(Effect.option(instanceKeyHere(settings)), (found) =>
      Option.match(Option.flatten(found), {
        onNone: () => Context.empty(),
        onSome: (keys) => Context.make(CellKeys, SealedAddresses.of(keys)),
      }),
    ),
  )
