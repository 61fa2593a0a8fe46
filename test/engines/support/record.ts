/** The public record of one probe as `once --json` prints it and `/probes/:id` serves it; what these suites use of it. */
export interface ProbeRecord {
  readonly id: string;
  readonly target: string;
  readonly model: string;
  readonly profile: string;
  readonly api: string;
  readonly engine: { readonly name: string; readonly version: string | null } | null;
  readonly started_at: string;
  readonly outcome: 'good' | 'failed';
  readonly reason: string | null;
  readonly message: string | null;
  readonly warmup: boolean;
  readonly ttft_seconds: number | null;
  readonly tpot_seconds: number | null;
  readonly duration_seconds: number | null;
  readonly output_tokens: number | null;
  readonly first_chunk_tokens: number | null;
  readonly token_source: string | null;
  readonly prompt_tokens: number | null;
  readonly cached_prompt_tokens: number | null;
  readonly token_chunks: number;
  readonly finish_reason: string | null;
  readonly buffered: boolean;
  readonly disturbed: boolean;
  readonly cause: string | null;
  readonly evidence: Readonly<Record<string, unknown>> | null;
}
