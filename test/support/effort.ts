/** How long this process has worked, whoever else had the processor meanwhile: for what must not be done the hard way. */
export const workedMs = (): number => {
  const { system, user } = process.cpuUsage()
  return (system + user) / 1_000
}
