import * as Mode from "../api/Mode.ts"
import * as Alarm from "./Alarm.ts"

/** Whether a rate is shown in red: above its limit, and of mail that was not simulated. */
export const isHighRate = (status: keyof typeof Alarm.LIMITS, rate: number): boolean =>
  !Mode.isSimulated() && rate > Alarm.LIMITS[status]
