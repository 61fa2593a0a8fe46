import { boards, renderBoard } from '../../grafana/source/boards.ts';

/** Neither kustomize nor Helm reads anything outside of its own folder, so each gets a copy. */
const COPIES = [
  'grafana/dashboards',
  'deploy/kubernetes/base/dashboards',
  'deploy/helm/inference-probe-exporter/files',
];

/** The boards as Grafana loads them. */
export function generateDashboards(): { readonly path: string; readonly content: string }[] {
  return boards.flatMap((board, index) =>
    COPIES.map((folder) => ({
      path: `${folder}/${board.file}`,
      content: renderBoard(index),
    })),
  );
}
