import { instance } from "../api/instance.ts"
import * as Mode from "../api/Mode.ts"

/** Whether the mail that is shown leaves nowhere, so that its bounces harm no reputation. */
export const isSimulated = (): boolean => Mode.isTest() || instance.transport === "capture"
