import type { Event } from "@waybill/client/Waybill"
import { Effect, Option, Stream } from "effect"
import { Command, Flag } from "effect/cli"
import * as Output from "../Output.ts"
