"""Delegates that draw and edit the cells of the table of segments."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QHelpEvent, QIcon, QPainter, QPainterPath, QPalette, QPen, QPixmap, QRegion
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QLineEdit,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QToolTip,
    QWidget,
)

from scstream_app.ui.panels.segments_items import LOCKED, OWN_NAME, Index
from scstream_app.ui.panels.segments_model import SegmentsModel

#: Size of the padlock and its distance from the cell's edge and the name, in pixels.
_LOCK_WIDTH, _LOCK_HEIGHT, _GAP = 9, 12, 5
#: Opacity of a box that cannot be ticked.
_FADED = 0.35


class TipDelegate(QStyledItemDelegate):
    """Shows the tooltips of cells, which the model makes only when they are needed."""

    def helpEvent(self, event: QHelpEvent, view: QAbstractItemView, option: QStyleOptionViewItem, index: Index) -> bool:
        model = index.model()
        if event.type() != QEvent.Type.ToolTip or not isinstance(model, SegmentsModel):
            return super().helpEvent(event, view, option, index)
        QToolTip.showText(event.globalPos(), model.tip(index), view.viewport(), view.visualRect(index))
        return True


class NameDelegate(TipDelegate):
    """Edits names, and keeps what the user is typing when new frames update the table."""

    def setEditorData(self, editor: QWidget, index: Index) -> None:
        if isinstance(editor, QLineEdit) and not editor.isModified():
            editor.setText(index.data(OWN_NAME))


class LockDelegate(NameDelegate):
    """Draws a padlock behind the names of locked segments, also in narrow cells."""

    def initStyleOption(self, option: QStyleOptionViewItem, index: Index) -> None:
        super().initStyleOption(option, index)
        if index.data(LOCKED):
            style = _style(option)
            text = style.subElementRect(QStyle.SubElement.SE_ItemViewItemText, option, option.widget)
            margins = 2 * (style.pixelMetric(QStyle.PixelMetric.PM_FocusFrameHMargin, option, option.widget) + 1)
            room = text.width() - margins - _LOCK_WIDTH - _GAP
            option.text = option.fontMetrics.elidedText(option.text, Qt.TextElideMode.ElideRight, max(room, 0))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        super().paint(painter, option, index)
        if index.data(LOCKED):
            chosen = bool(option.state & QStyle.StateFlag.State_Selected)
            role = QPalette.ColorRole.HighlightedText if chosen else QPalette.ColorRole.Text
            paint_lock(painter, _lock_place(option.rect), option.palette.color(role))


def _style(option: QStyleOptionViewItem) -> QStyle:
    return option.widget.style() if option.widget is not None else QApplication.style()


def _lock_place(cell: QRect) -> QRectF:
    """Return the place of the padlock: at the right edge, vertically centred."""
    top = cell.top() + (cell.height() - _LOCK_HEIGHT) // 2
    return QRectF(cell.right() - _GAP - _LOCK_WIDTH + 1, top, _LOCK_WIDTH, _LOCK_HEIGHT)


def paint_lock(painter: QPainter, place: QRectF, colour: QColor) -> None:
    """Paint a closed padlock."""
    body = place.adjusted(0.0, 0.45 * place.height(), 0.0, 0.0)
    half = 0.28 * place.width()
    bow = QPainterPath(body.topLeft() + QPointF(0.5 * place.width() - half, 0.0))
    bow.arcTo(QRectF(bow.currentPosition().x(), place.top() + 0.75, 2 * half, 2 * half), 180.0, -180.0)
    bow.lineTo(bow.currentPosition().x(), body.top())
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.strokePath(bow, QPen(colour, 1.5))
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(colour)
    painter.drawRoundedRect(body, 1.5, 1.5)
    painter.restore()


class SwatchDelegate(TipDelegate):
    """Shows swatches in selected rows in their true colours, which Qt's styles would tint, without a focus frame."""

    def initStyleOption(self, option: QStyleOptionViewItem, index: Index) -> None:
        super().initStyleOption(option, index)
        if option.state & QStyle.StateFlag.State_Selected:
            colour = index.data(Qt.ItemDataRole.DecorationRole)
            if isinstance(colour, QColor):
                option.icon = _swatch(colour, option.decorationSize)
                option.state &= ~QStyle.StateFlag.State_HasFocus


def _swatch(colour: QColor, size: QSize) -> QIcon:
    """Make an icon that keeps its colour in selected rows."""
    pixmap = QPixmap(size)
    pixmap.fill(colour)
    icon = QIcon(pixmap)
    icon.addPixmap(pixmap, QIcon.Mode.Selected)
    return icon


class ShownDelegate(SwatchDelegate):
    """Fades boxes that cannot be ticked, but not the swatches beside them."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        if index.flags() & Qt.ItemFlag.ItemIsUserCheckable:
            super().paint(painter, option, index)
            return
        whole = QStyleOptionViewItem(option)
        self.initStyleOption(whole, index)
        box = _style(whole).subElementRect(QStyle.SubElement.SE_ItemViewItemCheckIndicator, whole, whole.widget)
        painter.save()
        painter.setClipRegion(QRegion(option.rect) - QRegion(box), Qt.ClipOperation.IntersectClip)
        super().paint(painter, option, index)
        painter.restore()
        painter.save()
        painter.setClipRect(box, Qt.ClipOperation.IntersectClip)
        _style(whole).drawPrimitive(QStyle.PrimitiveElement.PE_PanelItemViewItem, whole, painter, whole.widget)
        painter.setOpacity(_FADED)
        super().paint(painter, option, index)
        painter.restore()
