import * as InstanceKeys from "@waybill/store/secrets/InstanceKey"
import { join } from "node:path"
import type { Settings } from "../settings/Settings.ts"

const source = ({ data, instanceKey }: Settings) => ({ file: join(data, "instance.key"), text: instanceKey })

/** The key that encrypts this installation's secrets: from the settings, or from the data folder. */
export const instanceKey = (settings: Settings) => InstanceKeys.InstanceKey.layer(source(settings))

/** The existing key, or none if nothing has been encrypted here yet. */
export const instanceKeyHere = (settings: Settings) => InstanceKeys.find(source(settings))
