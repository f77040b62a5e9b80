import { useMutation, useQueryClient } from "@tanstack/react-query"
import type * as Operate from "@waybill/api/Operate"
import { useState } from "react"
import { post } from "../api/Api.ts"
import { State } from "../ui/display/Badge.tsx"
import { Button } from "../ui/controls/Button.tsx"
import { cx } from "../ui/display/cx.ts"
import { Confirm } from "../ui/feedback/Dialog.tsx"
import { size } from "../ui/display/formatBytes.ts"
import { Panel, Screen } from "../ui/layout/Screen.tsx"
import { complain, say } from "../ui/feedback/Toasts.tsx"
import { Loaded } from "./QueryResult.tsx"
import { projections } from "./OperatorQueries.ts"

const number = new Intl.NumberFormat()

export const Projections = () => (
  <Screen
    title="Projections"
    hint="What is read is folded from the log. It can be folded anew beside the live one, compared, and swapped in."
  >
    <Loaded options={projections}>
      {({ jobs, under_way, versions }) => {
        const names = [...new Set(versions.map(({ name }) => name))]
        return (
          <Panel>
            <ul className="divide-y divide-line">
              {names.map((name) => (
                <One
                  key={name}
                  name={name}
                  versions={versions.filter((each) => each.name === name)}
                  job={jobs.find((each) => each.name === name)}
                  underWay={under_way.find((each) => each.name === name)}
                />
              ))}
            </ul>
          </Panel>
        )
      }}
    </Loaded>
  </Screen>
)

interface Props {
  readonly name: string
  readonly versions: ReadonlyArray<Operate.ProjectionVersion>
  readonly job: Operate.ProjectionJob | undefined
  readonly underWay: Operate.ProjectionUnderWay | undefined
}

const One = ({ job, name, underWay, versions }: Props) => {
  const client = useQueryClient()
  const [swapping, setSwapping] = useState(false)
  const refresh = () => client.invalidateQueries({ queryKey: projections.queryKey })
  const begin = useMutation({
    mutationFn: (kind: Operate.ProjectionJob["kind"]) => post(`/operate/projections/${name}/${kind}`),
    onSettled: refresh,
    onError: complain,
  })
  const isOurs = job !== undefined && job.ended === null
  const isWorking = isOurs || underWay?.working === true
  const isFollowing = versions.some(({ state }) => state === "following")
  const isReady = versions.some(({ state }) => state === "ready")
  return (
    <li>
      <div className="flex min-h-13 flex-wrap items-center gap-x-3 gap-y-2 px-4 py-2.5">
        <h2 className="basis-full font-mono text-sm font-medium sm:basis-44">{name}</h2>
        <ul className="flex min-w-0 grow flex-col gap-1.5">
          {versions.map((version) => (
            <Version key={version.version} version={version} />
          ))}
        </ul>
        {isFollowing ? <span className="text-xs text-ink-3">counts behind the log, by itself</span> : undefined}
        <div className="flex gap-2">
          {isReady ? (
            <Button small look="solid" disabled={isWorking} onClick={() => setSwapping(true)}>
              Swap in
            </Button>
          ) : undefined}
          <Button small disabled={isWorking} onClick={() => begin.mutate("verify")}>
            Verify
          </Button>
          <Button small disabled={isWorking} onClick={() => begin.mutate("rebuild")}>
            Rebuild
          </Button>
        </div>
      </div>
      {isOurs || underWay === undefined ? undefined : <Elsewhere underWay={underWay} />}
      {job === undefined || (job.ended?.good === true && underWay !== undefined) ? undefined : <Job job={job} />}
      <Confirm
        open={swapping}
        onOpenChange={setSwapping}
        title={`Swap ${name}?`}
        action="Swap it in"
        onConfirm={async () => {
          await post(`/operate/projections/${name}/swap`, { back: false })
          await refresh()
          say(`The new version of ${name} is live.`, () => {
            post(`/operate/projections/${name}/swap`, { back: true }).then(refresh, complain)
          })
        }}
      >
        The version that is ready becomes the live one in one short transaction. The live one of now is kept.
      </Confirm>
    </li>
  )
}

const Version = ({ version }: { readonly version: Operate.ProjectionVersion }) => {
  const { behind, rows, size_bytes, state, version: nth } = version
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 text-sm">
      <State state={state} />
      <span className="text-ink-2">version {nth}</span>
      <span className="tabular text-xs text-ink-3">
        {size(size_bytes)}
        {rows === 0 ? "" : `, about ${number.format(rows)} rows`}
        {behind === 0 ? "" : `, ${number.format(behind)} events behind`}
      </span>
    </li>
  )
}

const WORDS = { rebuild: "Rebuild", verify: "Comparison" } as const

const shareOf = (phase: string, events: number, total: number): number =>
  phase !== "folding" || total === 0 ? 1 : Math.min(1, events / total)

const Bar = ({ label, share }: { readonly label: string; readonly share: number }) => (
  <div
    role="progressbar"
    aria-label={label}
    aria-valuenow={Math.round(share * 100)}
    aria-valuemin={0}
    aria-valuemax={100}
    className="mt-2 h-1.5 overflow-hidden rounded-full bg-hover"
  >
    <div className="h-full rounded-full bg-accent" style={{ width: `${share * 100}%` }} />
  </div>
)

/** Begun on another node, or at the command line: how far it is stands in the database. */
const Elsewhere = ({ underWay }: { readonly underWay: Operate.ProjectionUnderWay }) => {
  const { events, name, phase, slices_done, total, version, working } = underWay
  return (
    <div className="px-4 pb-3">
      <p role="status" className="flex flex-wrap items-baseline gap-x-3 text-sm">
        <span className="font-medium">{version === null ? "At work elsewhere" : `Version ${version}`}</span>
        <span className={working ? "text-ink-2" : "text-warn"}>
          {working ? phase : "was left unfinished. A rebuild goes on from here"}
        </span>
        {version === null ? undefined : (
          <span className="tabular ml-auto text-xs text-ink-3">
            {number.format(events)} of {number.format(total)} events, {number.format(slices_done)}{" "}
            {slices_done === 1 ? "slice" : "slices"} done
          </span>
        )}
      </p>
      {version === null ? undefined : (
        <Bar label={`Version ${version} of ${name}`} share={shareOf(phase, events, total)} />
      )}
    </div>
  )
}

const Job = ({ job }: { readonly job: Operate.ProjectionJob }) => {
  const { ended, eta_seconds, events, kind, phase, total } = job
  return (
    <div className="px-4 pb-3">
      <p role="status" className="flex flex-wrap items-baseline gap-x-3 text-sm">
        <span className="font-medium">{WORDS[kind]}</span>
        <span
          className={cx("min-w-0 break-words", ended === null ? "text-ink-2" : ended.good ? "text-good" : "text-bad")}
        >
          {ended === null ? phase : ended.said}
        </span>
        {ended !== null ? undefined : (
          <span className="tabular ml-auto text-xs text-ink-3">
            {number.format(events)} of {number.format(total)} events
            {eta_seconds === null ? "" : `, ${eta_seconds} s to go`}
          </span>
        )}
      </p>
      {ended !== null ? undefined : (
        <Bar label={`${WORDS[kind]} of ${job.name}`} share={shareOf(phase, events, total)} />
      )}
    </div>
  )
}
