import * as Ring from "@waybill/store/secrets/InstanceKey"
import { join } from "node:path"
import type { Settings } from "./Settings.ts"

const place = ({ data, instanceKey }: Settings) => ({ file: join(data, "instance.key"), text: instanceKey })

/** What seals the secrets of this installation: given by the operator, or kept beside the data. */
export const instanceKey = (settings: Settings) => Ring.InstanceKey.layer(place(settings))

/** The same where it is, and none where nothing has been sealed from here yet. */
export const instanceKeyHere = (settings: Settings) => Ring.lookFor(place(settings))
