import { InstanceKey } from "@waybill/store/InstanceKey"
import { join } from "node:path"
import type { Settings } from "./Settings.ts"

/** What seals the secrets of this installation: given by the operator, or kept beside the data. */
export const instanceKey = (settings: Settings) =>
  InstanceKey.layer({ file: join(settings.data, "instance.key"), text: settings.instanceKey })
