import { boards, renderBoard } from '../../grafana/source/boards.ts';

/** The boards, and copies for kustomize, which reads nothing outside of its own folder. */
export function generateDashboards(): { readonly path: string; readonly content: string }[] {
  return boards.flatMap((board, index) =>
    ['grafana/dashboards', 'deploy/kubernetes/base/dashboards'].map((folder) => ({
      path: `${folder}/${board.file}`,
      content: renderBoard(index),
    })),
  );
}
