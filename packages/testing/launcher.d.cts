/** The file of the command `waybill`, unless it is not installed. */
export declare const findLauncher: () => string | undefined
